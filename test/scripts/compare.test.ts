import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortDiff } from '../../scripts/compare.ts'

test('a difference shows the removed and the added lines, and no others', () => {
  const before = ['one', 'two', 'three', 'four', 'five'].join('\n')
  const after = ['one', 'zwei', 'three', 'four', 'vier', 'five'].join('\n')
  assert.deepEqual(shortDiff(before, after).split('\n').sort(), ['+ vier', '+ zwei', '- two'])
})

test('a difference of whole files is cut short, and quickly', () => {
  const lines = (name: string) => Array.from({ length: 20_000 }, (_, i) => `${name} ${i}`)
  const said = shortDiff('', lines('new').join('\n')).split('\n')
  assert.equal(said.length, 41)
  assert.equal(said.at(-1), '... and more')
  const rewritten = shortDiff(lines('old').join('\n'), lines('new').join('\n')).split('\n')
  assert.equal(rewritten.length, 41)
})
