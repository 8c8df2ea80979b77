import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** More would leave the last process running alone. */
const FILES_MAX = 8

/** Folders whose files start nothing but the app, and would each load all of it again. */
const TOGETHER = /^test\/(?:modules\/|kernel\/|platform\/|storefront\/)/

/** Hooks that would reach into the other files, and a start that those would not wait for. */
const ALONE = /^(?:before|after)Each\(|^\S.*\bawait\b/m

/** Which test files share a process: those of a folder, as far as they do not get into each other's way. */
export function groupTests(files: readonly string[], root: string): string[][] {
  const groups: string[][] = []
  const open = new Map<string, string[]>()
  for (const file of files) {
    const folder = dirname(file)
    const isAlone = !TOGETHER.test(file) || ALONE.test(readFileSync(join(root, file), 'utf8'))
    const found = isAlone ? undefined : open.get(folder)
    if (found !== undefined && found.length < FILES_MAX) {
      found.push(file)
      continue
    }
    const group = [file]
    groups.push(group)
    if (!isAlone) open.set(folder, group)
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
