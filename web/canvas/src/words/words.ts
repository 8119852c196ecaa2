/** Sets up i18next with the language of the settings, or of the browser. */
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "./en";
import { zh } from "./zh";

export function setUpWords(language: string): void {
  const wanted = language || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
  void i18next.use(initReactI18next).init({
    lng: wanted,
    fallbackLng: "en",
    resources: { en: { translation: en }, zh: { translation: zh } },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = wanted === "zh" ? "zh-CN" : "en";
}

/** Say something outside of a component. */
export function say(key: string, about: Record<string, unknown> = {}): string {
  return i18next.t(key, about);
}
