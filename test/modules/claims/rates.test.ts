import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { scanOneText as scanText } from '../../../src/modules/claims/scan.ts'
import { CLAIMS } from './corpus/claims.ts'
import { GENERATED } from './corpus/generated-evasions.ts'
import { HELD_OUT_CLAIMS } from './corpus/held-out.ts'
import { SIGHTINGS } from './corpus/sightings.ts'

/** At least this share of disguised claims is refused. */
const EVASIONS_CAUGHT_MIN = 0.99

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

const mustCatch = [...Object.values(CLAIMS).flat(), ...SIGHTINGS]
const disguised = (texts: readonly string[]) => [
  ...new Set(Object.values(GENERATED).flatMap((disguise) => texts.flatMap(disguise))),
]

describe('disguised claims', () => {
  test('are refused at the promised rate over all disguises', (t) => {
    const { rate, message } = rateOf(t, 'all disguises', disguised(mustCatch), isCaught)
    assert.ok(rate >= EVASIONS_CAUGHT_MIN, message)
  })

  for (const [name, disguise] of Object.entries(GENERATED)) {
    test(`are refused with ${name}`, (t) => {
      const texts = [...new Set(mustCatch.flatMap(disguise))]
      const { rate, message } = rateOf(t, name, texts, isCaught)
      assert.ok(rate >= EVASIONS_CAUGHT_MIN - 0.01, message)
    })
  }

  test('are refused at the promised rate where no rule was written for the claim', (t) => {
    const claims = (HELD_OUT_CLAIMS.en ?? []).filter(isCaught)
    const { rate } = rateOf(t, 'held out', disguised(claims), isCaught)
    assert.ok(rate >= EVASIONS_CAUGHT_MIN)
  })
})
