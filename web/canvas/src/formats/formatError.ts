/** A file that cannot be opened: `code` names the sentence in i18n (fault.CODE), `about` fills it. */
export class FormatError extends Error {
  constructor(
    readonly code: string,
    readonly about: Readonly<Record<string, string>> = {},
  ) {
    super(`${code} ${JSON.stringify(about)}`);
    this.name = "FormatError";
  }
}
