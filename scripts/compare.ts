import { readFile, writeFile } from 'node:fs/promises'
import { diff } from 'node:util'

const SHOWN_MAX = 40
/** The most lines that are compared: the time grows with the square of the differences, and the first say enough. */
const COMPARED_MAX = 500

/** Writes a generated file, or with `--check` compares it with the committed one. */
export async function writeOrCheck(path: string, text: string, args: readonly string[]) {
  if (!args.includes('--check')) return writeFile(path, text)
  const committed = await readFile(path, 'utf8').catch(() => '')
  if (committed === text) return
  process.stderr.write(
    `${path} differs from what it is made from:\n${shortDiff(committed, text)}\n`,
  )
  process.exitCode = 1
}

/** Writes or compares what a command writes into a page, between two marks that name the command. */
export async function writeOrCheckPart(
  path: string,
  command: string,
  part: string,
  args: readonly string[],
) {
  const begin = `<!-- written by npm run ${command} -->`
  const end = `<!-- end of what npm run ${command} writes -->`
  const page = await readFile(path, 'utf8')
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`${path} has lost the marks of npm run ${command}`)
  const text = `${page.slice(0, from)}${begin}\n\n${part}\n\n${page.slice(to)}`
  await writeOrCheck(path, text, args)
}

/** Returns the first lines that were removed and added. */
export function shortDiff(before: string, after: string): string {
  const [old, now] = trimCommon(before.split('\n'), after.split('\n'))
  const changes = diff(old.slice(0, COMPARED_MAX), now.slice(0, COMPARED_MAX))
    .filter(([kind]) => kind !== 0)
    .map(([kind, line]) => `${kind === -1 ? '+' : '-'} ${line}`)
  if (changes.length <= SHOWN_MAX) return changes.join('\n')
  return [...changes.slice(0, SHOWN_MAX), '... and more'].join('\n')
}

function trimCommon(before: string[], after: string[]): [string[], string[]] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  const room = Math.min(before.length, after.length) - start
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)]
}
