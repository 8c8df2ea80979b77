import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The folders with the texts of a surface: `en.json`, and a file for each other language. */
export const listTextFolders = (): string[] =>
  globSync('{storefront,src}/**/en.json', { cwd: ROOT })
    .sort()
    .map((file) => join(ROOT, dirname(file)))
