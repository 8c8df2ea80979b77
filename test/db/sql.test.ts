import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { join, prepare, type Sql, sql, unnamed } from '../../src/db/sql.ts'

suite('a statement', () => {
  test('numbers its parameters in the order of its text, however deep its parts are nested', () => {
    const inner = (value: number) => sql`b = ${value} and c = ${'x'}`
    const { text, values } = prepare(sql`select ${1} where ${inner(2)} limit ${3}`)
    assert.equal(text, 'select $1 where b = $2 and c = $3 limit $4')
    assert.deepEqual(values, [1, 2, 'x', 3])
  })

  test('has the same name at every call, with the parameters of that call', () => {
    const make = (value: number) => prepare(sql`select a from t where a = ${value} or ${sql`true`}`)
    const [first, second] = [make(1), make(2)]
    assert.equal(first.name, second.name)
    assert.equal(first.text, second.text)
    assert.deepEqual([first.values, second.values], [[1], [2]])
  })

  test('differs from a statement of the same template with other parts in its gaps', () => {
    const make = (left: Sql | number, right: Sql | number) => prepare(sql`a ${left} b ${right} c`)
    const part = sql`(${0})`
    const made = [make(1, 2), make(part, 2), make(1, part), make(part, part), make(sql`()`, part)]
    assert.deepEqual(
      made.map(({ text }) => text),
      ['a $1 b $2 c', 'a ($1) b $2 c', 'a $1 b ($2) c', 'a ($1) b ($2) c', 'a () b ($1) c'],
    )
    assert.equal(new Set(made.map(({ name }) => name)).size, made.length)
    assert.deepEqual(make(part, 7).values, [0, 7])
  })

  test('can be built anew at every call', () => {
    const filters = (count: number) =>
      Array.from({ length: count }, (_, n) => sql`f${sql``} = ${n}`)
    const make = (count: number) => prepare(sql`select where ${join(filters(count), ' and ')}`)
    assert.equal(make(2).text, 'select where f = $1 and f = $2')
    assert.equal(make(2).name, make(2).name)
    assert.notEqual(make(3).name, make(2).name)
  })
})

test("a statement whose text was requested gets no name, and takes no other statement's place", () => {
  const filters = join([sql`a = ${1}`, sql`b = ${sql`(${2})`}`], ' and ')
  const { name, text, values } = prepare(unnamed(sql`select where ${filters} limit ${3}`))
  assert.equal(name, undefined)
  assert.equal(text, 'select where a = $1 and b = ($2) limit $3')
  assert.deepEqual(values, [1, 2, 3])
  const named = () => Number(prepare(sql`select ${0} as how_many`).name?.slice(1))
  const before = named()
  for (let n = 0; n < 50; n++) {
    const many = Array.from({ length: n + 1 }, () => sql`c = ${n}`)
    assert.equal(prepare(unnamed(sql`select where ${join(many, ' or ')}`)).name, undefined)
  }
  const after = Number(prepare(sql`select ${0} as how_many_more`).name?.slice(1))
  assert.equal(after, before + 1)
})
