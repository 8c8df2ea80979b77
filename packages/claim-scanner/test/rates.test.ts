import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { scanOneText as scanText } from '../src/scan.ts'
import { CLAIMS } from './corpus/claims.ts'
import { COMMERCE } from './corpus/commerce.ts'
import { DISCLAIMERS } from './corpus/disclaimers.ts'
import { EVERYDAY } from './corpus/everyday.ts'
import { GENERATED } from './corpus/generated-evasions.ts'
import { HELD_OUT_CLAIMS, HELD_OUT_HARMLESS } from './corpus/held-out.ts'
import { NATURAL_CLAIMS } from './corpus/natural.ts'
import { NEUTRAL } from './corpus/neutral.ts'
import { SHOP_COPY } from './corpus/shop.ts'
import { SIGHTINGS } from './corpus/sightings.ts'

/** At least this share of disguised claims is refused. */
const EVASIONS_CAUGHT_MIN = 0.99
/** At least this share is refused for one kind of disguise alone, of which there are fewer texts. */
const ONE_DISGUISE_MIN = 0.98
/** At least this share of natural claims is refused, also of those that no rule was written for. */
const CLAIMS_CAUGHT_MIN = 0.99
const HELD_OUT_CAUGHT_MIN = 0.95
/** At most this share of harmless texts is refused. */
const HARMLESS_REFUSED_MAX = 0.003

const isCaught = (text: string) => !scanText(text).passed

/** The share of texts for which a check holds. Prints it, and the first few that fail. */
function rateOf(
  t: TestContext,
  what: string,
  texts: readonly string[],
  holds: (text: string) => boolean,
) {
  const failed = texts.filter((text) => !holds(text))
  const rate = 1 - failed.length / texts.length
  t.diagnostic(`${what}: ${texts.length - failed.length} of ${texts.length}, ${percent(rate)}`)
  return { rate, failed, message: failed.slice(0, 20).join('\n') }
}

const percent = (rate: number) => `${(rate * 100).toFixed(2)} %`

const mustCatch = [...Object.values(CLAIMS).flat(), ...SIGHTINGS, ...(NATURAL_CLAIMS.en ?? [])]
const disguised = (texts: readonly string[]) => [
  ...new Set(Object.values(GENERATED).flatMap((disguise) => texts.flatMap(disguise))),
]

describe('disguised claims', () => {
  test('are refused at the promised rate, whatever the disguise', (t) => {
    const { rate, message } = rateOf(t, 'all disguises', disguised(mustCatch), isCaught)
    assert.ok(rate >= EVASIONS_CAUGHT_MIN, message)
  })

  for (const [name, disguise] of Object.entries(GENERATED)) {
    test(`are refused with ${name}`, (t) => {
      const texts = [...new Set(mustCatch.flatMap(disguise))]
      const { rate, message } = rateOf(t, name, texts, isCaught)
      assert.ok(rate >= ONE_DISGUISE_MIN, message)
    })
  }

  test('are refused at the promised rate also if no rule was written for the claim', (t) => {
    const claims = (HELD_OUT_CLAIMS.en ?? []).filter(isCaught)
    const { rate } = rateOf(t, 'held out', disguised(claims), isCaught)
    assert.ok(rate >= EVASIONS_CAUGHT_MIN)
  })
})

/** English, the languages of the storefront, and those that only have a lexicon. */
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'ru', 'zh', 'ja', 'ar']

describe('natural claims', () => {
  for (const language of LANGUAGES) {
    test(`are refused in ${language}`, (t) => {
      const texts = NATURAL_CLAIMS[language] ?? []
      assert.ok(texts.length >= 15)
      const { rate, message } = rateOf(t, language, texts, isCaught)
      assert.ok(rate >= CLAIMS_CAUGHT_MIN, message)
    })
  }

  test('are refused at the promised rate also in texts that no rule was written for', (t) => {
    const texts = LANGUAGES.flatMap((language) => HELD_OUT_CLAIMS[language] ?? [])
    assert.ok(texts.length >= 80)
    const { rate } = rateOf(t, 'held out', texts, isCaught)
    assert.ok(rate >= HELD_OUT_CAUGHT_MIN)
  })
})

describe('harmless texts', () => {
  test('are refused at most at the promised rate, in every language and trade', (t) => {
    const commerce = LANGUAGES.flatMap((language) => COMMERCE[language] ?? [])
    const heldOut = LANGUAGES.flatMap((language) => HELD_OUT_HARMLESS[language] ?? [])
    const unseen = rateOf(t, 'held out', heldOut, (text) => !isCaught(text))
    const texts = [...commerce, ...DISCLAIMERS, ...EVERYDAY, ...NEUTRAL, ...SHOP_COPY]
    assert.ok(commerce.length + heldOut.length >= 300)
    const { failed, message } = rateOf(t, 'other texts', texts, (text) => !isCaught(text))
    const rate = (failed.length + unseen.failed.length) / (texts.length + heldOut.length)
    t.diagnostic(`refused in all: ${percent(rate)}`)
    assert.ok(rate <= HARMLESS_REFUSED_MAX, message)
  })
})

describe('a claim about animals or a book', () => {
  const severities = (text: string) => scanText(text).findings.map(({ severity }) => severity)
  const about = ['Wound healing in mice', 'Anti-ageing research literature', 'Heals wounds in rats']
  for (const text of about) {
    test(`is reported for review: ${text}`, () => {
      const found = severities(text)
      assert.ok(found.length > 0)
      assert.ok(found.every((severity) => severity === 'WARNING'))
    })
  }

  const appended = [
    'in mice',
    'in vitro',
    '(research literature)',
    '- a handbook',
    'in cell culture',
  ]
  for (const words of appended) {
    test(`is reported even if the words ${words} follow it`, (t) => {
      const missed = rateOf(
        t,
        words,
        mustCatch.map((claim) => `${claim} ${words}`),
        (text) => severities(text).some((severity) => severity !== 'INFO'),
      )
      assert.deepEqual(missed.failed, [])
    })
  }

  const toPeople = [
    'Heals your wounds in mice',
    'Cures cancer (handbook)',
    'BPC-157 speeds wound healing in mice',
    'Wound healing. In mice.',
    'Take 2 capsules daily in mice',
    'FDA approved in mice',
    'For you: weight loss in mice and humans',
  ]
  for (const text of toPeople) {
    test(`is refused if it is about people: ${text}`, () => assert.ok(isCaught(text)))
  }
})

describe('a claim in another script', () => {
  const disguised = {
    'Latin letters in Russian words': 'Лeчит pак',
    'capital letters': 'ЛЕЧИТ РАК',
    'a zero-width space in Russian': 'Ле\u200bчит рак',
    'an accent in Russian': 'Ле\u0301чит рак',
    'markup in Russian': 'Ле<b>чит</b> рак',
    'escapes in Russian': '\\u041bечит рак',
    'spaces between Chinese characters': '治 疗 癌 症',
    'signs between Chinese characters': '治·疗-癌*症',
    'entities in Chinese': '&#27835;疗癌症',
    'half-width Japanese': 'ｱﾝﾁｴｲｼﾞﾝｸﾞ効果',
    'an invisible character in Japanese': 'が\u200bんを治\u2060す',
    'vowel signs in Arabic': 'يُعَالِجُ السَّرَطَان',
    'long lines in Arabic': 'يعـــالج السرطـــان',
    'presentation forms of Arabic': '\ufef3\ufecc\ufe8e\ufedf\ufe9e السرطان',
    'words written on to others in Arabic': 'ويعالج السرطان',
    'Latin names': '本产品已获 F D A 批准，FDA批准',
  }
  for (const [name, text] of Object.entries(disguised)) {
    test(`is refused with ${name}`, () => assert.ok(isCaught(text)))
  }

  test('is found at its place in the source', () => {
    const [finding] = scanText('Новинка: ле<b>чит</b> рак быстро').findings
    assert.equal(finding?.term, 'ле<b>чит</b> рак')
  })

  const denied = {
    de: 'Dieses Produkt heilt keine Krankheiten',
    es: 'No cura el cáncer',
    fr: 'Ne guérit pas le cancer',
    it: 'Non cura il diabete',
    nl: 'Geneest geen kanker',
    pl: 'Nie leczy raka',
    ru: 'Не лечит рак',
    zh: '不能治疗癌症',
    ja: 'がんを治療するものではありません',
    ar: 'لا يعالج السرطان',
  }
  for (const [language, text] of Object.entries(denied)) {
    test(`is not reported when it is denied in ${language}`, () => assert.ok(!isCaught(text)))
  }

  const notOnly = {
    de: 'Nicht nur das: heilt Krebs',
    pl: 'Nie tylko łagodzi, ale leczy raka',
    ru: 'Не только снимает боль, но лечит рак',
    zh: '不仅治疗癌症',
  }
  for (const [language, text] of Object.entries(notOnly)) {
    test(`is reported when "not only" stands before it in ${language}`, () =>
      assert.ok(isCaught(text)))
  }
})
