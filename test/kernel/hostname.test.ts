import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { canonicalHostname, isWithin } from '../../src/kernel/hostname.ts'
import { anyCharacter } from '../harness/any-character.ts'

describe('a hostname has one spelling', () => {
  const spellings: Record<string, readonly string[]> = {
    'shop.example': [
      'shop.example',
      'SHOP.Example',
      'shop.example.',
      'shop.example:443',
      'shop.example:',
      'shop.example.:8080',
      'ｓｈｏｐ．ｅｘａｍｐｌｅ',
      'shop。example。',
      'sh\u00adop.example',
      'ⓢⓗⓞⓟ.example',
    ],
    'xn--bcher-kva.example': [
      'bücher.example',
      'BÜCHER.example',
      'bu\u0308cher.example',
      'xn--bcher-kva.example',
      'XN--BCHER-KVA.EXAMPLE',
    ],
    'xn--fa-hia.example': ['faß.example', 'xn--fa-hia.example'],
    'xn--mgbh0fb.xn--kgbechtv': ['مثال.إختبار'],
    '1.2.3.4.example': ['1.2.3.4.example'],
    'a--b.4u.example': ['a--b.4u.example'],
  }
  for (const [canonical, written] of Object.entries(spellings)) {
    test(canonical, () => {
      for (const each of written) assert.equal(canonicalHostname(each), canonical, each)
    })
  }

  test('the spelling of a hostname stays the same when it is converted again', () => {
    const part = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 12 }),
      fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/),
      fc.stringMatching(/^(xn--)?[a-z0-9-]{1,8}$/),
      fc.constantFrom('ü', 'ß', '．', '。', '１２７', 'ｅ', '\u0300', '\u00ad', 'İ', 'ﷺ'),
    )
    const written = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.'))
    let valid = 0
    fc.assert(
      fc.property(fc.oneof(written, fc.domain()), (text) => {
        const once = canonicalHostname(text)
        if (once === null) return
        valid++
        assert.equal(canonicalHostname(once), once)
        assert.equal(canonicalHostname(`${once.toUpperCase()}.:80`), once)
        assert.match(once, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
        assert.ok(once.length <= 253)
      }),
      { numRuns: 3_000 },
    )
    assert.ok(valid > 300, `only ${valid} were hostnames`)
  })
})

test('a text that is not a full DNS name is not a hostname', () => {
  const label = 'a'.repeat(63)
  const refused = [
    '',
    '.',
    'localhost',
    'shop',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '１２７．０．０．１',
    '[::1]',
    '::1',
    '[::1]:80',
    'shop.123',
    '*.shop.example',
    '_dmarc.shop.example',
    'a_b.shop.example',
    'shop..example',
    '.shop.example',
    'shop.example..',
    '-shop.example',
    'shop-.example',
    `${label}a.example`,
    `${label}.${label}.${label}.${label}`,
    'a.'.repeat(5_000),
    'shop.example/path',
    'shop.example?q',
    'shop.example#f',
    'shop.example\\x',
    'shop%2eexample',
    'user@shop.example',
    'https://shop.example',
    'shop.example:http',
    'shop.example:123456',
    'sho p.example',
    ' shop.example',
    'shop\t.example',
    'shop.example\n',
    'shop.ex\0ample',
    'shop／x.example',
    'shop：80.example',
    'xn--a.example',
    'xn--abc-.example',
    'XN--.example',
    'a\u200db.example',
  ]
  for (const each of refused) assert.equal(canonicalHostname(each), null, JSON.stringify(each))
  assert.equal(canonicalHostname(`${label}.${label}.${label}.${'a'.repeat(61)}`)?.length, 253)
})

test('a run of combining marks takes little time', () => {
  const started = performance.now()
  assert.equal(canonicalHostname(`${'\u0300\u0316'.repeat(150_000)}.example`), null)
  // A quadratic conversion takes minutes.
  assert.ok(performance.now() - started < 10_000)
})

test('a zone contains itself and the names below it', () => {
  assert.ok(isWithin('shop.example', 'shop.example'))
  assert.ok(isWithin('a.b.shop.example', 'shop.example'))
  assert.ok(!isWithin('myshop.example', 'shop.example'))
  assert.ok(!isWithin('example', 'shop.example'))
})
