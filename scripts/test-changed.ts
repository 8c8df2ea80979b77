import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { UsageError } from './test-options.ts'

/** Where source files are that a test can reach. */
export const SOURCES =
  '{packages,src,storefront,manifest,examples,test,scripts,bench}/**/*.{ts,mjs}'

/** Files that every test depends on without naming them. */
const EVERYTHING =
  /^(?:package(?:-lock)?\.json|\.npmrc|tsconfig\.json|scripts\/(?:test|test-.*|grep-reporter)\.ts)$/

/**
 * A path in quotes: of a file that is imported, read, or started as a process. A path that begins with a
 * variable is relative to the root; of a path that goes on with a variable, the folder before it counts.
 */
const QUOTED =
  /(['"`])(?:\$\{\w+\}\/?)?((?:\.{1,2}\/)*[\w@-][\w@.-]*(?:\/[\w@.-]+)*\/?)(?:\1|(?<=\/)\$\{)/g

/**
 * Lists the files that differ from a commit, or rather from the point where the branch left it: those
 * committed since, not yet committed, and new. A file that was deleted counts too.
 */
export function listChanged(root: string, base: string): string[] {
  const git = (...args: string[]) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new UsageError(`not a commit: ${base}`)
    return stdout.split('\0').filter((path) => path !== '')
  }
  return [
    ...git('diff', '-z', '--name-only', '--no-renames', '--merge-base', base, '--'),
    ...git('ls-files', '-z', '--others', '--exclude-standard'),
  ]
}

export interface Sources {
  /** Every source file of the tree, tests among them. */
  files: readonly string[]
  read(file: string): string
}

export const readFrom = (root: string) => (file: string) => readFileSync(join(root, file), 'utf8')

/**
 * Finds the tests that reach a changed file by the names in them: their imports, the imports of those,
 * and the files and folders that any of them names in quotes, such as a program it starts.
 */
export function findAffected(
  tests: readonly string[],
  changed: readonly string[],
  sources: Sources,
): string[] {
  if (changed.some((path) => EVERYTHING.test(path))) return [...tests]
  const namedBy = listNamedBy(sources)
  const reached = new Set(changed)
  // A set is walked in the order of its additions, and those made on the way are walked too.
  for (const path of reached) {
    for (const name of [path, ...foldersOf(path)]) {
      for (const file of namedBy.get(name) ?? []) reached.add(file)
    }
  }
  return tests.filter((test) => reached.has(test))
}

/** Lists for each path the files that name it. */
function listNamedBy({ files, read }: Sources): Map<string, Set<string>> {
  const namedBy = new Map<string, Set<string>>()
  for (const file of files) {
    for (const [, , quoted = ''] of read(file).matchAll(QUOTED)) {
      const path = resolveName(quoted, file)
      const found = namedBy.get(path)
      if (found) found.add(file)
      else namedBy.set(path, new Set([file]))
    }
  }
  return namedBy
}

/** The path that a file names. A package of the workspace is named by its folder, with a slash at the end. */
function resolveName(quoted: string, file: string): string {
  const [, workspace] = /^@fairdock\/([\w-]+)/.exec(quoted) ?? []
  if (workspace !== undefined) return `packages/${workspace}/`
  return quoted.startsWith('.') ? join(dirname(file), quoted) : normalize(quoted)
}

/** Lists the folders around a path. A folder is named with a slash at its end: `../../migrations/`. */
function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [`${folder}/`, ...foldersOf(folder)]
}
