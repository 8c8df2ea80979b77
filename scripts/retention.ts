import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../src/config.ts'
import { LIVES, type Life } from '../src/platform/retention.ts'
import { writeOrCheck } from './compare.ts'

/** Writes the table of lives into docs/operations.md. `--check` only compares. */

const BEGIN = '<!-- written by npm run retention -->'
const END = '<!-- end of what npm run retention writes -->'

const describe = (life: Life): string => {
  if ('forGood' in life) return `kept for good | ${life.forGood}`
  if ('owner' in life) {
    return `kept with its row in \`${life.owner}\`${life.note === undefined ? '' : `, ${life.note}`} |`
  }
  const setting =
    life.setting === undefined ? '' : ` (\`${life.setting}\`: ${fallback(life.setting)})`
  return `until ${life.until}${setting} | loop \`${life.loop}\`${life.archived ? '; archived' : ''}`
}

const fallback = (name: keyof typeof SETTINGS) => String(SETTINGS[name].fallback ?? 'unset')

const lines = Object.entries(LIVES)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([table, life]) => `| \`${table}\` | ${describe(life)} |`)

const table = `${BEGIN}

| Table | Rows are kept | Removed by, or why |
|---|---|---|
${lines.join('\n')}

${END}`

const path = fileURLToPath(new URL('../docs/operations.md', import.meta.url))
const page = await readFile(path, 'utf8')
const begin = page.indexOf(BEGIN)
const end = page.indexOf(END)
if (begin === -1 || end < begin)
  throw new Error(`${path} has lost the marks around its table of lives`)
const text = page.slice(0, begin) + table + page.slice(end + END.length)
await writeOrCheck(path, text, process.argv.slice(2))
