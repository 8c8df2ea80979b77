import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Tests that need the app, and would each load all of it again: how many of a kind share a process. Fewer
 * processes load it less often; with too few of them the last one would run alone for long.
 */
const TOGETHER: readonly (readonly [files: RegExp, max: number])[] = [
  [/^test\/browser\//, 5],
  [
    /^test\/(?:contract|db|examples|http|kernel|modules|platform|scripts|stories|storefront|(?:clock|config|listen|metrics|start-page)\.test\.ts$)/,
    48,
  ],
]

/**
 * Files that start processes or wait for time to pass: in a process of their own others need not
 * wait. The test of the API document counts every shape that its process has loaded, that of statements
 * their names, of which a process has a thousand; those of broken connections count its sockets, or its
 * memory. Where memory is counted, all of it is collected again and again, which takes half a second with the app in it.
 */
const APART =
  /^test\/(?:db\/(?:backend-kills|embedded.*|managed|migrate|sql)|http\/(?:database-faults|fuzz|openapi|slow-clients)|modules\/(?:.*\/killed-workers|webhooks\/broken-endpoints)|platform\/(?:blobs|memory|safe-fetch-faults)|scripts\/(?:imports|run))\.test\.ts$/

const PROCESS = fileURLToPath(new URL('./test-process.ts', import.meta.url))

/**
 * Which test files share a process. Those that share one come first: what runs last is then short, and no
 * core is idle for long at the end.
 */
export function groupTests(files: readonly string[]): string[][] {
  const isTogether = (file: string, kind: RegExp) => kind.test(file) && !APART.test(file)
  const alone = files.filter((file) => !TOGETHER.some(([kind]) => isTogether(file, kind)))
  const together = TOGETHER.flatMap(([kind, max]) =>
    chunk(
      files.filter((file) => isTogether(file, kind)),
      max,
    ),
  )
  return [...together, ...alone.map((file) => [file])]
}

/** More than so many files are for two processes, each of which has a core. */
const ALONE_MAX = 8

/** Parts of a list, as equal as they can be. */
function chunk(list: readonly string[], max: number): string[][] {
  const parts = Math.max(Math.ceil(list.length / max), list.length > ALONE_MAX ? 2 : 0)
  return Array.from({ length: parts }, (_, at) =>
    list.slice((at * list.length) / parts, ((at + 1) * list.length) / parts),
  )
}

/**
 * Makes of each group one file that the test runner can start. A run by name numbers the suites of the
 * files, whose paths would be found by it otherwise.
 */
export function writeGroups(
  groups: readonly string[][],
  root: string,
  dir: string,
  { byName = false }: { byName?: boolean } = {},
): string[] {
  mkdirSync(dir, { recursive: true })
  return groups.map((group, index) => {
    // The runner goes by the names.
    const path = join(dir, `${String(index).padStart(3, '0')}.mjs`)
    const names = byName ? group.map((_, at) => `#${at + 1}`) : group
    const args = [resolve(root), group, names].map((arg) => JSON.stringify(arg, null, 2))
    writeFileSync(
      path,
      `import { runTestFiles } from ${JSON.stringify(PROCESS)}\n\nawait runTestFiles(${args.join(', ')})\n`,
    )
    return path
  })
}
