/** Sentences at the edge of the page. */
import { dismiss, useApp } from "../app/store";

export function Notices() {
  const notices = useApp((state) => state.notices);
  return (
    <div className="notices" role="log" aria-live="polite">
      {notices.map((notice) => (
        <p key={notice.id} className={notice.tone} onClick={() => dismiss(notice.id)}>{notice.text}</p>
      ))}
    </div>
  );
}
