import { ARABIC } from './ar.ts'
import { GERMAN } from './de.ts'
import { SPANISH } from './es.ts'
import { FRENCH } from './fr.ts'
import { ITALIAN } from './it.ts'
import { JAPANESE } from './ja.ts'
import type { Language } from './language.ts'
import { DUTCH } from './nl.ts'
import { POLISH } from './pl.ts'
import { RUSSIAN } from './ru.ts'
import { CHINESE } from './zh.ts'

/** The languages besides English, whose words are in word-classes.ts. */
export const LANGUAGES: readonly Language[] = [
  GERMAN,
  SPANISH,
  FRENCH,
  ITALIAN,
  DUTCH,
  POLISH,
  RUSSIAN,
  CHINESE,
  JAPANESE,
  ARABIC,
]
