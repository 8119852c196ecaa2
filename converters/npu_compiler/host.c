/* Compiles one model for an NPU with the libraries of OpenVINO's Windows wheel, under Wine.
 *
 *   host.exe MODEL.xml OUT.blob KEY=VALUE ...
 *
 * The logs of plugin and compiler go to standard output; the answer is in lines of its own:
 *
 *   @compiled seconds=1.234 bytes=53000 peak=152000000
 *   @failed seconds=0.050 peak=152000000      the message follows, up to a line "@end"
 *   @crashed code=0xc0000005
 */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <psapi.h>
#include <stdio.h>
#include <string.h>

/* As the Windows header names a type BOOLEAN, OpenVINO's renames its own and says so. */
#include "openvino/c/openvino.h"

enum { MOST_OPTIONS = 64 };

static double seconds(void) {
    LARGE_INTEGER frequency, count;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}

static long long peak_bytes(void) {
    PROCESS_MEMORY_COUNTERS used = {0};
    used.cb = sizeof used;
    return GetProcessMemoryInfo(GetCurrentProcess(), &used, sizeof used)
               ? (long long)used.PeakWorkingSetSize
               : 0;
}

static LONG WINAPI crashed(EXCEPTION_POINTERS *told) {
    printf("\n@crashed code=%#lx\n", (unsigned long)told->ExceptionRecord->ExceptionCode);
    fflush(stdout);
    ExitProcess(3);
    return EXCEPTION_EXECUTE_HANDLER; /* not reached; the type wants it */
}

static int failed(double start) {
    const char *message = ov_get_last_err_msg();
    printf("\n@failed seconds=%.3f peak=%lld\n%s\n@end\n", seconds() - start, peak_bytes(),
           message ? message : "no message");
    fflush(stdout);
    return 1;
}

/* Wine's heap walks a list at each large block: a model of a gigabyte would take hours. The
 * libraries import malloc by name, so the imports are pointed at the allocator of oneTBB, which the
 * wheel brings. Blocks that come from elsewhere are given back to where they came from. */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*aligned_malloc)(size_t, size_t);
    void (*free_known)(void *, void (*)(void *));
    void *(*realloc_known)(void *, size_t, void *);
} tbb;

static struct {
    void (*free)(void *);
    size_t (*msize)(void *);
} crt;
static void (*crt_aligned_free)(void *);

static void our_free(void *block) {
    if (block) tbb.free_known(block, crt.free);
}

static void our_aligned_free(void *block) {
    if (block) tbb.free_known(block, crt_aligned_free);
}

static void *our_realloc(void *block, size_t size) { return tbb.realloc_known(block, size, &crt); }

static void *replacement(const char *name) {
    if (!strcmp(name, "malloc")) return (void *)tbb.malloc;
    if (!strcmp(name, "calloc")) return (void *)tbb.calloc;
    if (!strcmp(name, "realloc")) return (void *)our_realloc;
    if (!strcmp(name, "free")) return (void *)our_free;
    if (!strcmp(name, "_aligned_malloc")) return (void *)tbb.aligned_malloc;
    if (!strcmp(name, "_aligned_free")) return (void *)our_aligned_free;
    return NULL;
}

static void redirect(HMODULE library) {
    unsigned char *base = (unsigned char *)library;
    IMAGE_NT_HEADERS64 *head = (void *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
    IMAGE_DATA_DIRECTORY imports = head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
    IMAGE_IMPORT_DESCRIPTOR *from = (void *)(base + imports.VirtualAddress);
    for (; imports.VirtualAddress && from->Name; from++) {
        if (_strnicmp((char *)base + from->Name, "api-ms-win-crt-heap", 19)) continue;
        IMAGE_THUNK_DATA64 *named = (void *)(base + from->OriginalFirstThunk);
        IMAGE_THUNK_DATA64 *used = (void *)(base + from->FirstThunk);
        for (; named->u1.AddressOfData; named++, used++) {
            if (IMAGE_SNAP_BY_ORDINAL64(named->u1.Ordinal)) continue;
            IMAGE_IMPORT_BY_NAME *entry = (void *)(base + named->u1.AddressOfData);
            void *ours = replacement((const char *)entry->Name);
            DWORD before;
            if (!ours || !VirtualProtect(&used->u1.Function, 8, PAGE_READWRITE, &before)) continue;
            used->u1.Function = (ULONGLONG)ours;
            VirtualProtect(&used->u1.Function, 8, before, &before);
        }
    }
}

static void use_tbb_heap(void) {
    static const char *const libraries[] = {
        "openvino.dll", "openvino_c.dll", "openvino_ir_frontend.dll",
        "openvino_intel_npu_plugin.dll", "openvino_intel_npu_compiler.dll",
        "openvino_intel_npu_compiler_loader.dll", "tbb12.dll", "msvcp140.dll"};
    HMODULE fast = LoadLibraryA("tbbmalloc.dll"), slow = LoadLibraryA("ucrtbase.dll");
    if (!fast || !slow) return; /* slower, and still right */
    tbb.malloc = (void *)GetProcAddress(fast, "scalable_malloc");
    tbb.calloc = (void *)GetProcAddress(fast, "scalable_calloc");
    tbb.aligned_malloc = (void *)GetProcAddress(fast, "scalable_aligned_malloc");
    tbb.free_known = (void *)GetProcAddress(fast, "__TBB_malloc_safer_free");
    tbb.realloc_known = (void *)GetProcAddress(fast, "__TBB_malloc_safer_realloc");
    crt.free = (void *)GetProcAddress(slow, "free");
    crt.msize = (void *)GetProcAddress(slow, "_msize");
    crt_aligned_free = (void *)GetProcAddress(slow, "_aligned_free");
    if (!tbb.malloc || !tbb.calloc || !tbb.aligned_malloc || !tbb.free_known ||
        !tbb.realloc_known || !crt.free || !crt.msize || !crt_aligned_free)
        return;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        HMODULE library = LoadLibraryA(libraries[i]);
        if (library) redirect(library);
    }
}

int main(int count, char **words) {
    ov_property_t options[MOST_OPTIONS];
    int given = 0;
    setvbuf(stdout, NULL, _IONBF, 0); /* after a crash nothing is left in a buffer */
    SetUnhandledExceptionFilter(crashed);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    if (count < 3 || count - 3 > MOST_OPTIONS) {
        fprintf(stderr, "usage: host.exe MODEL.xml OUT.blob KEY=VALUE ...\n");
        return 2;
    }
    for (int i = 3; i < count; i++) {
        char *equals = strchr(words[i], '=');
        if (!equals) return 2;
        *equals = 0;
        options[given].key = words[i];
        options[given++].value = equals + 1;
    }
    use_tbb_heap();
    ov_core_t *core = NULL;
    ov_model_t *model = NULL;
    ov_compiled_model_t *compiled = NULL;
    double start = seconds();
    if (ov_core_create(&core) || ov_core_read_model(core, words[1], NULL, &model))
        return failed(start);
    start = seconds();
    if (ov_core_compile_model_props(core, model, "NPU", given, options, &compiled))
        return failed(start);
    double spent = seconds() - start;
    if (ov_compiled_model_export_model(compiled, words[2])) return failed(start);
    WIN32_FILE_ATTRIBUTE_DATA file = {0};
    GetFileAttributesExA(words[2], GetFileExInfoStandard, &file);
    long long bytes = ((long long)file.nFileSizeHigh << 32) | file.nFileSizeLow;
    printf("\n@compiled seconds=%.3f bytes=%lld peak=%lld\n", spent, bytes, peak_bytes());
    fflush(stdout);
    /* The libraries' own ends are not waited for: nothing of them is needed any more. */
    ExitProcess(0);
}
