import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** More would leave the last process running alone. */
const FILES_MAX = 16

/** Tests that need the app and nothing else, and would each load all of it again. */
const TOGETHER = /^test\/(?:contract|db|http|kernel|modules|platform|scripts|stories|storefront)\//

/**
 * Files that start processes or wait for time to pass: in a process of their own others need not
 * wait. The test of the API document counts every shape that its process has loaded.
 */
const APART =
  /^test\/(?:db\/(?:backend-kills|embedded.*|managed|migrate)|http\/(?:database-faults|fuzz|openapi|slow-clients)|scripts\/(?:imports|run))\.test\.ts$/

/** Hooks that would reach into the other files, and a start that those would not wait for. */
const ALONE = /^(?:before|after)Each\(|^(?!import\b|.*=>.*\bawait\b)\S.*\bawait\b/m

/** Which test files share a process, as far as they do not get into each other's way. */
export function groupTests(files: readonly string[], root: string): string[][] {
  const groups: string[][] = []
  let open: string[] | null = null
  for (const file of files) {
    const isAlone =
      !TOGETHER.test(file) || APART.test(file) || ALONE.test(readFileSync(join(root, file), 'utf8'))
    if (isAlone) {
      groups.push([file])
    } else if (open !== null && open.length < FILES_MAX) {
      open.push(file)
    } else {
      open = [file]
      groups.push(open)
    }
  }
  return groups
}

/** Makes of each group one file that the test runner can start. */
export function writeGroups(groups: readonly string[][], root: string, dir: string): string[] {
  mkdirSync(dir, { recursive: true })
  return groups.map((group, index) => {
    // The runner goes by the names.
    const path = join(dir, `${String(index).padStart(3, '0')}.mjs`)
    const imports = group.map((file) => `import ${JSON.stringify(resolve(root, file))}\n`)
    writeFileSync(path, imports.join(''))
    return path
  })
}
