/** To come. */
import { useTranslation } from "react-i18next";

export default function Timing() {
  const { t } = useTranslation();
  return <p>{t("timing.title")}</p>;
}
