import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { IJsonError, type IJsonReason, LIMITS, parseIJson } from '../../src/kernel/i-json.ts'
import { anyCharacter } from '../harness/any-character.ts'

const read = (text: string) => parseIJson(Buffer.from(text)).value

function refusalOf(bytes: Uint8Array | string): [IJsonReason, string] | null {
  try {
    parseIJson(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    return null
  } catch (error) {
    if (error instanceof IJsonError) return [error.reason, error.path]
    throw error
  }
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const named = (name: string) => JSON.stringify({ [name]: 1 })
const MIB = 1024 * 1024

describe('parseIJson refuses', () => {
  const texts: [what: string, text: string | Uint8Array, reason: IJsonReason, path?: string][] = [
    ['nothing at all', '', 'syntax'],
    ['only space', ' \n', 'syntax'],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'not_utf8'],
    ['an overlong spelling', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'not_utf8'],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not_utf8'],
    ['a text cut inside a character', Buffer.from('"é"').subarray(0, 2), 'not_utf8'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    ['a byte order mark inside', '[\ufeff1]', 'syntax', '/0'],
    ['two values', '1 2', 'syntax'],
    ['a comma too many', '[1,]', 'syntax'],
    ['a comma outside', ',', 'syntax'],
    ['a bracket that was never opened', ']', 'syntax'],
    ['brackets that cross', '{"a":[}]', 'syntax'],
    ['a text that stops early', '{"a":[1,', 'syntax', '/a/1'],
    ['a string without an end', '"abc', 'syntax'],
    ['a string that ends in a backslash', '"abc\\', 'syntax'],
    ['an unknown escape', '"\\x"', 'syntax'],
    ['a unicode escape that is no number', '"\\u00g0"', 'syntax'],
    ['single quotes', "{'a':1}", 'syntax'],
    ['a comment', '[1/**/]', 'syntax', '/0'],
    ['NaN', 'NaN', 'syntax'],
    ['a number that begins with zero', '01', 'syntax'],
    ['a long number that begins with zero', '0000000000000000001', 'syntax'],
    ['a number of two numbers', '[1234567890123-45]', 'syntax', '/0'],
    ['a word that is almost true', 'trux', 'syntax'],
    ['a name that is a number', '{1:2}', 'syntax'],
    ['a raw control character', '"a\nb"', 'syntax'],
    ['a raw U+0000', '"\0"', 'syntax'],
    ['depth 65', nested(65), 'too_deep', '/0'.repeat(64)],
    ['20,001 values', JSON.stringify(Array(20_000).fill(0)), 'too_many_nodes', '/19999'],
    [
      'a name of 257 characters',
      `{"a":{"b":1,${named('x'.repeat(257)).slice(1)}}`,
      'key_too_long',
      '/a',
    ],
    ['257 characters beyond the first plane', named('😀'.repeat(257)), 'key_too_long'],
    ['a name of 257 escapes', `{"${'\\u0061'.repeat(257)}":1}`, 'key_too_long'],
    ['a name twice', '{"a":1,"b":2,"a":3}', 'duplicate_key', '/a'],
    ['a name twice by escape', '{"a":1,"\\u0061":2}', 'duplicate_key', '/a'],
    ['a name twice by escape, not ASCII', '{"\\u00e9":1,"é":2}', 'duplicate_key', '/é'],
    ['a name twice by a pair of escapes', '{"😀":1,"\\ud83d\\uDE00":2}', 'duplicate_key', '/😀'],
    [
      'a name twice, deep down',
      '[0,{"x/y":{"~":[{"k":1,"k":1}]}}]',
      'duplicate_key',
      '/1/x~1y/~0/0/k',
    ],
    ['an empty name twice', '{"":1,"":1}', 'duplicate_key', '/'],
    ['__proto__', '{"a":{"__proto__":1}}', 'forbidden_key', '/a/__proto__'],
    ['__proto__ by escape', '{"\\u005f_proto_\\u005F":1}', 'forbidden_key', '/__proto__'],
    ['constructor', '[{"constructor":1}]', 'forbidden_key', '/0/constructor'],
    ['prototype', '{"prototype":1}', 'forbidden_key', '/prototype'],
    ['prototype by escape', '{"prototyp\\u0065":1}', 'forbidden_key', '/prototype'],
    ['U+0000', '{"a":["x\\u0000"]}', 'nul_character', '/a/0'],
    ['U+0000 in a name', '{"a":1,"\\u0000":1}', 'nul_character'],
    ['a high surrogate alone', '["\\ud800"]', 'lone_surrogate', '/0'],
    ['a low surrogate alone', '"\\udc00"', 'lone_surrogate'],
    ['surrogates in the wrong order', '"\\udc00\\ud800"', 'lone_surrogate'],
    ['two low surrogates', '"\\udc00\\udc00"', 'lone_surrogate'],
    ['two high surrogates', '"\\ud83d\\ud83d"', 'lone_surrogate'],
    ['a high surrogate before a letter', '"\\uD83Dx"', 'lone_surrogate'],
    ['a high surrogate before another escape', '"\\uD83D\\n"', 'lone_surrogate'],
    ['a surrogate alone in a name', '{"\\ud83d":1}', 'lone_surrogate'],
    ['2^53', '{"n":9007199254740992}', 'unsafe_number', '/n'],
    ['-2^53', '-9007199254740992', 'unsafe_number'],
    ['2^53 + 1', '9007199254740993', 'unsafe_number'],
    ['2^53 with a fraction', '9007199254740992.0', 'unsafe_number'],
    ['1E20', '1E20', 'unsafe_number'],
    ['1.5e300', '1.5e300', 'unsafe_number'],
    ['1e400', '[1,-1e400]', 'unsafe_number', '/1'],
  ]
  for (const [what, text, reason, path = ''] of texts) {
    test(what, () => assert.deepEqual(refusalOf(text), [reason, path]))
  }

  test('the second of two equal names among very many', () => {
    const members = Array.from({ length: 5_000 }, (_, n) => `"k${n}":0`)
    assert.equal(refusalOf(`{${members}}`), null)
    assert.deepEqual(refusalOf(`{${members},"k7":0}`), ['duplicate_key', '/k7'])
  })

  test('without quoting the body', () => {
    for (const text of ['{"card":"4111111111111111"', '["4111111111111111\\u0000"]']) {
      assert.throws(
        () => read(text),
        (error: Error) => error.cause === undefined && !/4111/.test(`${error.stack}`),
      )
    }
  })
})

describe('parseIJson accepts', () => {
  const texts: [what: string, text: string][] = [
    ['a scalar with space around', ' \t\r\n"x" \n'],
    ['depth 64', nested(64)],
    ['20,000 values', JSON.stringify(Array(19_999).fill(0))],
    ['a name of 256 characters', named('x'.repeat(256))],
    ['256 characters beyond the first plane', named('😀'.repeat(256))],
    ['a name of 256 escapes', `{"${'\\u0061'.repeat(256)}":1}`],
    ['the same name in different objects', '[{"a":{"a":1}},{"a":1}]'],
    ['names that differ in case or normal form', '{"a":1,"A":2,"\\u00e9":3,"e\\u0301":4}'],
    ['names of Object.prototype', '{"toString":1,"hasOwnProperty":2,"valueOf":3}'],
    ['forbidden names as values', '["__proto__","constructor","prototype"]'],
    ['every escape', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\uD83D\\ude00"'],
    ['escaped backslashes before a quote', '["\\\\","\\\\\\"","\\\\u0000"]'],
    ['the largest safe integers', '[9007199254740991,-9007199254740991,9007199254740991.0]'],
    ['small and odd numbers', '[0,-0,-0.0,0.1,1e2,1E-7,5e-324,1e-400,123456789012345678e-5]'],
    ['literals', '[true,false,null,{},[]]'],
    ['a line separator and U+FEFF in a string', '"\u2028\ufeff"'],
  ]
  for (const [what, text] of texts) {
    test(what, () => assert.deepEqual(read(text), JSON.parse(text)))
  }

  test('a view into a larger buffer', () => {
    const bytes = new Uint8Array(Buffer.from('xx[1,"é"]yy')).subarray(2, -2)
    assert.deepEqual(parseIJson(bytes).value, [1, 'é'])
  })

  test('a text that other limits allow', () => {
    const limits = { depth: 2, nodes: 3, keyLength: 1 }
    const within = (text: string) => () => parseIJson(Buffer.from(text), { limits })
    assert.doesNotThrow(within('[[1]]'))
    assert.throws(within('[[[]]]'), { reason: 'too_deep' })
    assert.throws(within('[1,2,3]'), { reason: 'too_many_nodes' })
    assert.throws(within('{"ab":1}'), { reason: 'key_too_long' })
  })
})

describe('parseIJson answers the bytes of a member', () => {
  const cut = (text: string, sliceOf = 'manifest') => {
    const bytes = Buffer.from(text)
    const { slice } = parseIJson(bytes, { sliceOf })
    return slice && bytes.toString('utf8', slice.start, slice.end)
  }
  const texts: [what: string, text: string, slice: string | undefined][] = [
    [
      'as they came',
      '{"é":"😀","manifest" : { "b":1.0, "a":[ ] }\n ,"z":1}',
      '{ "b":1.0, "a":[ ] }',
    ],
    ['when it stands last', '{"manifest":1e2 }', '1e2'],
    ['when its name is escaped', '{"m\\u0061nifest":"\\u0061"}', '"\\u0061"'],
    ['when it holds its own name', '{"manifest":{"manifest":[1,2]},"x":0}', '{"manifest":[1,2]}'],
    ['but not of a nested one', '{"x":{"manifest":1}}', undefined],
    ['but not of an array', '["manifest",{"manifest":1}]', undefined],
    ['but not when it is absent', '{"x":"manifest"}', undefined],
  ]
  for (const [what, text, slice] of texts) test(what, () => assert.equal(cut(text), slice))

  test('under a name that is not ASCII', () => assert.equal(cut('{"ü":[1]}', 'ü'), '[1]'))
})

/** The value of JSON.parse, unless our profile refuses the text. */
const name = fc
  .oneof(
    fc.string({ unit: anyCharacter, maxLength: 12 }),
    fc.constantFrom('a', 'b', 'manifest', '~/"\\'),
  )
  .filter(
    (text) => !['__proto__', 'constructor', 'prototype'].includes(text) && !text.includes('\0'),
  )
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: anyCharacter }).filter((text) => !text.includes('\0')),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: -(2 ** 52), max: 2 ** 52 }),
    fc.constantFrom(null, true, false),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(name, tie('json'), { maxKeys: 16, noNullPrototype: true }),
  ),
}))
const space = fc.constantFrom('', ' ', '\n', '\t')

/** JSON.stringify, with every character outside of plain ASCII as an escape. */
const spellOut = (text: string) =>
  text.replace(/[^\n\t -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

describe('parseIJson and JSON.parse', () => {
  test('agree on every value within the limits, however it is written', () => {
    fc.assert(
      fc.property(json, space, fc.boolean(), (value, indent, escaped) => {
        const text = JSON.stringify(value, null, indent)
        const spelled = escaped ? spellOut(text) : text
        assert.deepEqual(read(spelled), JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('agree on every damaged text that we accept; parseIJson refuses the other texts', () => {
    const piece = fc.constantFrom(...'[]{}:,"\\u0-1eE. ', '\\u0000', '"a":', '\ud83d', 'true', '\0')
    fc.assert(
      fc.property(json, fc.nat(), fc.nat(8), piece, (value, where, removed, inserted) => {
        const text = JSON.stringify(value)
        const at = where % (text.length + 1)
        const damaged = Buffer.from(text.slice(0, at) + inserted + text.slice(at + removed))
        if (refusalOf(damaged) !== null) return
        assert.deepEqual(parseIJson(damaged).value, JSON.parse(damaged.toString()))
      }),
      { numRuns: 2_000 },
    )
  })

  test('agree on any run of tokens that we accept', () => {
    const tokens = fc.constantFrom(...'[]{}:,', '"a"', '"b"', '"\\u0061"', '1', '-', 'null', ' ')
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 9 }), (list) => {
        const text = list.join('')
        if (refusalOf(text) === null) assert.deepEqual(read(text), JSON.parse(text))
      }),
      { numRuns: 5_000 },
    )
  })

  test('agree on any bytes that we accept', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        if (refusalOf(bytes) !== null) return
        assert.deepEqual(parseIJson(bytes).value, JSON.parse(Buffer.from(bytes).toString()))
      }),
      { numRuns: 1_000 },
    )
  })

  test('agree on the member whose bytes parseIJson answers', () => {
    const others = fc.dictionary(name, json, { maxKeys: 3, noNullPrototype: true })
    fc.assert(
      fc.property(others, json, others, space, (before, manifest, after, indent) => {
        const body = { ...before, manifest, ...after }
        const bytes = Buffer.from(JSON.stringify(body, null, indent))
        const { slice } = parseIJson(bytes, { sliceOf: 'manifest' })
        assert.ok(slice)
        const cut = bytes.toString('utf8', slice.start, slice.end)
        assert.equal(cut.trim(), cut)
        assert.deepEqual(JSON.parse(cut), JSON.parse(JSON.stringify(body.manifest)))
      }),
      { numRuns: 300 },
    )
  })
})

describe('parseIJson is fast with', () => {
  const texts: [what: string, text: string, reason: IJsonReason | null][] = [
    ['400,000 arrays in one another', nested(400_000), 'too_deep'],
    ['a run of opening brackets', '['.repeat(MIB), 'too_deep'],
    ['a run of opening braces', '{"a":'.repeat(MIB / 5), 'too_deep'],
    ['a run of closing brackets', ']'.repeat(MIB), 'syntax'],
    ['a run of digits', '1'.repeat(MIB), 'unsafe_number'],
    ['a run of digits behind the point', `0.${'1'.repeat(MIB)}`, null],
    ['a run of space', ' '.repeat(MIB), 'syntax'],
    ['a run of U+0000', `"${'\\u0000'.repeat(MIB / 6)}"`, 'nul_character'],
    ['a run of backslashes', `"${'\\'.repeat(MIB)}"`, null],
    ['a run of escaped quotes', `"${'\\"'.repeat(MIB / 2)}"`, null],
    ['a run of quotes', '"'.repeat(MIB), 'too_many_nodes'],
    ['a run of colons', ':'.repeat(MIB), 'syntax'],
    ['a run of empty arrays', `[${'[],'.repeat(MIB / 3)}[]]`, 'too_many_nodes'],
    ['a very long name', `{"${'\\u0061'.repeat(MIB / 6)}":1}`, 'key_too_long'],
  ]
  for (const [what, text, reason] of texts) {
    test(what, () => {
      const start = performance.now()
      assert.equal(refusalOf(text)?.[0] ?? null, reason)
      // Each takes some 20 ms at most; a quadratic parser takes minutes.
      assert.ok(performance.now() - start < 10_000)
    })
  }

  test('as many names as there may be, like numbers and long', () => {
    const names = Array.from({ length: LIMITS.nodes - 1 }, (_, n) => `"${n * 2 ** 24}":0`)
    const start = performance.now()
    assert.equal(refusalOf(`{${names}}`), null)
    assert.ok(performance.now() - start < 10_000)
  })
})
