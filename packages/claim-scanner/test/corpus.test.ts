import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scanOneText as scanText } from '../src/scan.ts'
import { CLAIMS, WARNINGS } from './corpus/claims.ts'
import { DISCLAIMERS } from './corpus/disclaimers.ts'
import { EVASIONS } from './corpus/evasions.ts'
import { EVERYDAY } from './corpus/everyday.ts'
import { NEUTRAL } from './corpus/neutral.ts'
import { SHOP_COPY } from './corpus/shop.ts'
import { SIGHTINGS } from './corpus/sightings.ts'

const claims = [...Object.values(CLAIMS).flat(), ...SIGHTINGS]
const harmless = {
  disclaimers: DISCLAIMERS,
  'other senses': NEUTRAL,
  'shop copy': SHOP_COPY,
  'everyday texts': EVERYDAY,
}

const rulesOf = (text: string) => scanText(text).findings.map(({ rule }) => rule)

describe('the corpus', () => {
  for (const [rule, texts] of Object.entries(CLAIMS)) {
    test(`refuses every claim of ${rule}`, (t) => {
      const missed = texts.filter((text) => !rulesOf(text).some((found) => found === rule))
      t.diagnostic(`${texts.length - missed.length} of ${texts.length}`)
      assert.deepEqual(missed, [])
    })
  }

  test('refuses every claim quoted from real stores', () => {
    assert.deepEqual(
      SIGHTINGS.filter((text) => scanText(text).passed),
      [],
    )
  })

  for (const [rule, texts] of Object.entries(WARNINGS)) {
    test(`warns of ${rule} and refuses nothing`, () => {
      const missed = texts.filter((text) => !rulesOf(text).some((found) => found === rule))
      assert.deepEqual(missed, [])
      assert.deepEqual(
        texts.filter((text) => !scanText(text).passed),
        [],
      )
    })
  }

  for (const [kind, texts] of Object.entries(harmless)) {
    test(`lets ${kind} pass`, (t) => {
      const refused = texts.filter((text) => !scanText(text).passed)
      t.diagnostic(`${texts.length - refused.length} of ${texts.length}`)
      assert.deepEqual(refused, [])
    })
  }

  for (const [evasion, obfuscate] of Object.entries(EVASIONS)) {
    test(`refuses every claim obfuscated by ${evasion}`, (t) => {
      const obfuscated = claims.map(obfuscate)
      const missed = obfuscated.filter((text) => scanText(text).passed)
      t.diagnostic(`${obfuscated.length - missed.length} of ${obfuscated.length}`)
      assert.deepEqual(missed, [])
    })
  }

  test('the corpus has enough texts for its rates to mean something', () => {
    const sizes = [...Object.values(CLAIMS), ...Object.values(WARNINGS)].map((list) => list.length)
    assert.ok(Math.min(...sizes) >= 15)
    assert.ok(DISCLAIMERS.length >= 60 && NEUTRAL.length >= 120 && SHOP_COPY.length >= 60)
    assert.ok(sizes.reduce((a, b) => a + b, 0) >= 200)
    assert.ok(Object.values(harmless).flat().length >= 500)
  })

  test('holds no text twice', () => {
    const all = [...claims, ...Object.values(WARNINGS).flat(), ...Object.values(harmless).flat()]
    assert.equal(new Set(all).size, all.length)
  })
})

describe('a denial', () => {
  const claimed = [
    'Not only treats but cures cancer',
    'Not just a powder: it heals arthritis',
    'Not a drug, treats cancer fast',
    'Not for resale. Treats cancer.',
    'Not for human consumption, take 2 capsules daily',
    'Not for human use and treats cancer',
    'NOT A MEDICINE\nTreats cancer',
    '<p>Not for human consumption</p><p>Take 2 capsules daily</p>',
    "Don't wait, inject 250 mcg daily",
    'Do not forget to inject 250 mcg',
    'Why not cure cancer today?',
    'There is no doubt it cures cancer',
    'No other product treats cancer',
    'It is not true that it does not cure cancer',
    'Cannot not heal arthritis',
    'For research use only. Inject 250 mcg twice daily.',
    'Treats cancer, not diabetes',
    'Without side effects, cures cancer',
    'Want something that cures cancer? No problem.',
    'Safe for human use where permitted',
  ]
  for (const text of claimed) {
    test(`does not reach past its clause: ${JSON.stringify(text)}`, () => {
      assert.equal(scanText(text).passed, false)
    })
  }

  test('is recognised however it is obfuscated', () => {
    const plain = 'This product is not intended to diagnose, treat, cure or prevent any disease'
    for (const name of ['full-width forms', 'upper case', 'zero-width space', 'no-break spaces']) {
      const text = EVASIONS[name]?.(plain) ?? assert.fail(name)
      assert.deepEqual(scanText(text).findings, [], name)
    }
  })
})

describe('a claim within a longer word', () => {
  const written = ['#CuresCancer', 'curesCancer', 'cures_cancer', 'cures+cancer', 'fdaapproved']
  const addresses = ['/pages/cures-cancer', 'https://shop.example/?q=cures%20cancer']
  for (const text of [...written, ...addresses]) {
    test(`is found: ${text}`, () => assert.equal(scanText(text).passed, false))
  }
})
