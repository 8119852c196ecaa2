/** To come. */
import { useTranslation } from "react-i18next";

export default function Results() {
  const { t } = useTranslation();
  return <p>{t("results.title")}</p>;
}
