import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findLostDecisions, findOldList, writeList } from '../../scripts/decisions.ts'

const FILE = 'src/db/batch.ts'
const RECORD = 'docs/decisions/0002-one-sync.md'
const TEXT = `# 0002: Statements share one Sync

- Date: 2026-11-15
- State: stands; [0007](0007-hits.md) changed
  how long they wait
- In the code: \`${FILE}\`

A row may only be read with its store set.
`

const page = (text = TEXT, path = RECORD) => ({ path, text })
const code = (text: string, path = FILE) => ({ path, text })

/** Apart from the comment signs below, which the house rules would else read as comments of this file. */
const NAME = 'decision 0002'

const NAMING = code('/**\n * Several statements before one Sync (decision\n * 0002).\n */\n')

describe('the records of decisions', () => {
  for (const [what, text] of [
    ['a block comment', NAMING.text],
    ['a comment of one line', `/** Statements before one Sync (${NAME}). */`],
    ['a comment behind code', `cork() // See ${NAME}.`],
  ] as const) {
    test(`are read from ${what}`, () => {
      assert.deepEqual(findLostDecisions([page()], [code(text)]), [])
    })
  }

  for (const [what, changed] of [
    ['a title without its number', TEXT.replace('0002: ', '')],
    ['the number of another record in its title', TEXT.replace('# 0002', '# 0003')],
    ['no date', TEXT.replace('2026-11-15', 'last week')],
    ['no state', TEXT.replace('State: stands', 'State: good')],
    ['no file', TEXT.replace(`\`${FILE}\``, 'nothing')],
  ] as const) {
    test(`are refused with ${what}`, () => {
      const [first, ...more] = findLostDecisions([page(changed)], [code('')])
      assert.match(first ?? '', /^docs\/decisions\/0002-one-sync\.md: a record begins with "# 0012/)
      assert.deepEqual(more, [])
    })
  }

  test('are refused if no comment of their file names them', () => {
    for (const text of ['', `const why = '${NAME}'`, '// See decision 0003.']) {
      const found = findLostDecisions([page()], [code(text)])
      assert.equal(found[0], `${RECORD}: no comment of ${FILE} names "decision 0002"`)
    }
    assert.equal(findLostDecisions([page()], []).length, 1, 'a file that is gone names nothing')
  })

  test('are refused if a comment names one that does not list its file', () => {
    const other = code(`// See ${NAME}.`, 'src/db/pool.ts')
    assert.deepEqual(findLostDecisions([page()], [NAMING, other]), [
      'src/db/pool.ts: no record 0002 in docs/decisions/ lists this file',
    ])
    assert.equal(findLostDecisions([], [NAMING]).length, 1, 'a record that does not exist')
  })

  test('are refused if two of them have one number', () => {
    const twin = page(TEXT, 'docs/decisions/0002-other.md')
    assert.deepEqual(findLostDecisions([page(), twin], [NAMING]), [
      'docs/decisions/0002-other.md: another record has the number 0002',
    ])
  })

  test('need no file once another record has replaced them', () => {
    const replaced = TEXT.replace('stands; [0007]', 'replaced by [0007]').replace(
      `\`${FILE}\``,
      'nothing',
    )
    assert.deepEqual(findLostDecisions([page(replaced)], [code('')]), [])
  })

  test('are listed with their title and state', () => {
    const list = writeList([page()])
    assert.match(
      list,
      /^\| \[0002\]\(0002-one-sync\.md\) \| Statements share one Sync \| stands; \[0007\]\(0007-hits\.md\) changed how long they wait \|$/m,
    )
    const kept = page(list, 'docs/decisions/README.md')
    assert.deepEqual(findOldList([page(), kept]), [])
    assert.equal(findOldList([page(TEXT.replace('share', 'have')), kept]).length, 1)
    assert.equal(findOldList([page()]).length, 1)
  })
})
