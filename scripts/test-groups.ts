import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Tests that open pages in a browser. */
export const WITH_BROWSER = /^test\/(?:browser|journeys)\//

/**
 * How many tests of a kind share a process. They need the app, and each would load all of it again. Fewer
 * processes load it less often; with too few of them the last one would run alone for long (decision 0062).
 */
const TOGETHER: readonly (readonly [files: RegExp, max: number])[] = [
  [WITH_BROWSER, 5],
  [
    /^(?:packages\/(?:claim-scanner|messages)\/|test\/(?:contract|db|examples|http|kernel|modules|platform|scripts|stories|storefront|(?:clock|config|listen|metrics|start-page|translations)\.test\.ts$))/,
    48,
  ],
]

/**
 * Files that run in a process of their own. Some start processes or wait for time to pass, and others
 * need not wait for them. The test of the API document counts every shape that its process has loaded.
 * The test of statements counts their names, of which a process has a thousand. The tests of broken
 * connections count the sockets of their process, or its memory: it is then collected again and again,
 * which takes half a second with the app in it.
 */
const APART =
  /^test\/(?:db\/(?:backend-kills|managed|migrate|sql)|http\/(?:database-faults|fuzz|openapi|slow-clients)|modules\/(?:.*\/killed-workers|webhooks\/broken-endpoints)|platform\/(?:blobs|memory|safe-fetch-faults)|scripts\/(?:imports|run))\.test\.ts$/

const PROCESS = fileURLToPath(new URL('./test-process.ts', import.meta.url))

/**
 * Decides which test files share a process. Files that share one come first: the last ones are then
 * short, and no core is idle for long at the end.
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

/** More files than these are divided over two processes, each of which has a core. */
const ALONE_MAX = 8

/** Divides a list into parts that are as equal as they can be. */
function chunk(list: readonly string[], max: number): string[][] {
  const parts = Math.max(Math.ceil(list.length / max), list.length > ALONE_MAX ? 2 : 0)
  return Array.from({ length: parts }, (_, at) =>
    list.slice((at * list.length) / parts, ((at + 1) * list.length) / parts),
  )
}

/**
 * Writes for each group one file that the test runner can start. A run by name numbers the suites of the
 * files, because their paths would match the name otherwise.
 */
export function writeGroups(
  groups: readonly string[][],
  root: string,
  dir: string,
  { byName = false }: { byName?: boolean } = {},
): string[] {
  mkdirSync(dir, { recursive: true })
  return groups.map((group, index) => {
    // The runner starts the files in the order of their names.
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
