import { parseArgs } from 'node:util'

export const USAGE = `usage: npm test -- [options] [path...]

  npm test                            the checks, then every test
  npm test -- test/db                 the tests below a path, without the checks
  npm test -- test/db --grep "name"   of those the tests whose name contains the text
  npm test -- --changed               the tests that a change since the last commit touches
  npm test -- --changed --base main   the same for every change since the branch left main

A path is a file or a folder and can be given several times. The checks alone: npm run check.
Two folders have commands of their own: test/journeys has npm run journeys, and test/torture npm run torture.
`

/** The options of a run of the tests. */
export interface TestOptions {
  paths: string[]
  grep: string | null
  changed: boolean
  base: string
}

export class UsageError extends Error {}

/** Reads the command line. An unknown option is refused: a run without it would be of other tests. */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parse(args)
  const { grep = null, changed = false, base } = values
  if (grep === '') throw new UsageError('--grep needs a part of a name')
  if (base !== undefined && !changed) throw new UsageError('--base goes with --changed')
  if (base?.startsWith('-')) throw new UsageError('--base needs a commit')
  return { paths: positionals.map(trimPath), grep, changed, base: base ?? 'HEAD' }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        grep: { type: 'string' },
        changed: { type: 'boolean' },
        base: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** `./test/db` and `test/db` name the same tests. */
const trimPath = (path: string) => path.replace(/^\.\//, '')
