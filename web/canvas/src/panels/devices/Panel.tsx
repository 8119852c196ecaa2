/** To come. */
import { useTranslation } from "react-i18next";

export default function Devices() {
  const { t } = useTranslation();
  return <p>{t("devices.title")}</p>;
}
