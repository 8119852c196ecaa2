/** To come. */
import { useTranslation } from "react-i18next";

export default function Queue() {
  const { t } = useTranslation();
  return <p>{t("queue.title")}</p>;
}
