import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { canonicalHash, canonicalJson } from '../../src/kernel/canonical-json.ts'

/** The IEEE 754 bits of RFC 8785, appendix B, and the text each must have. */
const NUMBERS: [bits: string, text: string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

describe('canonicalJson', () => {
  for (const [bits, text] of NUMBERS) {
    test(`writes the number ${bits} as ${text}`, () => {
      assert.equal(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), text)
    })
  }

  test('gives the bytes of the example in RFC 8785, section 3.2', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    const bytes = `
      7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22
      6e 75 6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b
      33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2
      82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`
    assert.equal(Buffer.from(canonicalJson(value)).toString('hex'), bytes.replace(/\s/g, ''))
  })

  test('sorts members by UTF-16 units, as in RFC 8785, section 3.2.3', () => {
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
    const value = Object.fromEntries(sorted.toReversed().map((name) => [name, 0]))
    assert.deepEqual(Object.keys(value).toSorted(), sorted)
    const names = [...canonicalJson(value).matchAll(/"([^"]+)":/g)].map(([, name]) => name)
    assert.deepEqual(names, ['\\r', ...sorted.slice(1)])
  })

  test('writes names that look like numbers in the order of text', () => {
    assert.equal(canonicalJson({ 2: 0, 10: 0, '': 0 }), '{"":0,"10":0,"2":0}')
  })

  test('works for nesting far deeper than a body may have', () => {
    let value: unknown = 0
    for (let depth = 0; depth < 100_000; depth++) value = [value]
    assert.equal(canonicalJson(value).length, 200_001)
  })

  const cycle: Record<string, unknown> = {}
  cycle.self = { cycle }
  const refused: [what: string, value: unknown][] = [
    ['undefined', undefined],
    ['a member that is undefined', { a: { b: undefined } }],
    ['an element that is undefined', [1, undefined]],
    ['a hole', Array(2)],
    ['NaN', { a: [Number.NaN] }],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', [Number.NEGATIVE_INFINITY]],
    ['a BigInt', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['a symbol', [Symbol('a')]],
    ['a Date', { at: new Date(0) }],
    ['a Map', { a: new Map([[1, 2]]) }],
    ['a Buffer', [Buffer.of(1)]],
    ['an object with its own toJSON', { toJSON: () => 1 }],
    ['a lone surrogate', ['\ud800']],
    ['a cycle', cycle],
  ]
  for (const [what, value] of refused) {
    test(`refuses ${what}`, () => assert.throws(() => canonicalJson(value)))
  }
})

/** The same value, with the members of every object in reverse order. */
function turnRound(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turnRound)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, turnRound(member)]),
  )
}

const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 })

describe('canonicalHash', () => {
  test('is the lowercase SHA-256 of the canonical form', () => {
    const empty = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    assert.equal(canonicalHash({}), empty)
  })

  test('does not depend on the order of the members', () => {
    fc.assert(
      fc.property(json, (value) => {
        assert.equal(canonicalHash(turnRound(value)), canonicalHash(value))
      }),
    )
  })

  test('differs for different values, and for arrays in another order', () => {
    assert.notEqual(canonicalHash([1, 2]), canonicalHash([2, 1]))
    fc.assert(
      fc.property(json, json, (a, b) => {
        // Converted to text, because JSON has one zero where JavaScript has two.
        const [left, right] = [a, b].map((value) => JSON.parse(JSON.stringify(value)))
        assert.equal(canonicalHash(a) === canonicalHash(b), isDeepStrictEqual(left, right))
      }),
    )
  })

  test('is the hash of a text that parses to the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const back: unknown = JSON.parse(canonicalJson(value))
        assert.deepEqual(back, JSON.parse(JSON.stringify(value)))
        assert.equal(canonicalJson(back), canonicalJson(value))
      }),
    )
  })
})
