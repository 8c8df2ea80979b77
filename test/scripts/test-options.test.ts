import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readTestOptions, UsageError } from '../../scripts/test-options.ts'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))

const NONE = { paths: [], grep: null, changed: false, base: 'HEAD' }

describe('the command line of npm test', () => {
  const read: [string[], object][] = [
    [[], {}],
    [['test/db', './test/kernel'], { paths: ['test/db', 'test/kernel'] }],
    [['test/db', '--grep', 'a name'], { paths: ['test/db'], grep: 'a name' }],
    [['--grep=a name'], { grep: 'a name' }],
    [['--changed'], { changed: true }],
    [['--changed', '--base', 'main'], { changed: true, base: 'main' }],
  ]
  for (const [args, expected] of read) {
    test(`is read: ${args.join(' ') || 'nothing'}`, () => {
      assert.deepEqual(readTestOptions(args), { ...NONE, ...expected })
    })
  }

  const refused: [string[], RegExp][] = [
    [['--gerp', 'name'], /Unknown option '--gerp'/],
    [['--grep'], /--grep/],
    [['--grep', ''], /part of a name/],
    [['--base', 'main'], /--base goes with --changed/],
    [['--changed', '--base=-x'], /needs a commit/],
  ]
  for (const [args, expected] of refused) {
    test(`is refused: ${args.join(' ')}`, () => {
      assert.throws(
        () => readTestOptions(args),
        (error) => {
          assert.ok(error instanceof UsageError)
          assert.match(error.message, expected)
          return true
        },
      )
    })
  }

  const runs: [string, string[], RegExp][] = [
    ['test.ts', ['--gerp'], /Unknown option '--gerp'[\s\S]*usage: npm test/],
    ['test.ts', ['test/nowhere'], /no test file is at test\/nowhere[\s\S]*usage: npm test/],
    [
      'test.ts',
      ['test/kernel', '--grep', 'no such n4me'],
      /no test has "no such n4me" in its name/,
    ],
    ['test.ts', ['test/journeys'], /no test file is at test\/journeys[\s\S]*npm run journeys/],
    ['journeys.ts', ['nowhere'], /no journey is called nowhere[\s\S]*usage: npm run journeys/],
    ['check.ts', ['typos'], /usage: npm run check[\s\S]*types[\s\S]*imports/],
  ]
  for (const [script, args, expected] of runs) {
    test(`ends with 2 and a usage text if ${script} cannot do ${args.join(' ')}`, () => {
      const options = { encoding: 'utf8' } as const
      const { status, stderr } = spawnSync(process.execPath, [SCRIPTS + script, ...args], options)
      assert.equal(status, 2, stderr)
      assert.match(stderr, expected)
    })
  }
})
