/** To come. */
import { useTranslation } from "react-i18next";

export default function Models() {
  const { t } = useTranslation();
  return <p>{t("models.title")}</p>;
}
