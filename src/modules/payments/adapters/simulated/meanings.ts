import { type CodeMeaning, vocabularyOf } from '../meanings.ts'
import { resultsOf } from '../results.ts'
import type { NetworkCodes } from '../schema.ts'

/** A code of the simulated gateway, and the codes that a card network would send with it: its reply, and its advice. */
interface SimulatedCode extends CodeMeaning {
  codes: readonly [code: string]
  reply?: string
  advice?: string
}

const OWN = { source: 'the simulated gateway itself', asOf: '2026-11' }

/** What it answers. The advice `27` is Mastercard's "not before four days". */
export const SIMULATED_MEANINGS: readonly SimulatedCode[] = [
  { codes: ['100'], means: 'approved', reply: '00', ...OWN },
  { codes: ['200'], means: 'declined', reply: '05', ...OWN },
  { codes: ['202'], means: 'insufficient_funds', reply: '51', advice: '27', ...OWN },
  { codes: ['223'], means: 'expired_card', reply: '54', ...OWN },
  { codes: ['225'], means: 'incorrect_cvv', reply: 'N7', ...OWN },
  { codes: ['250'], means: 'card_misused', reply: '04', advice: '03', ...OWN },
  { codes: ['261'], means: 'all_agreements_ended', reply: 'R1', ...OWN },
  { codes: ['262'], means: 'agreement_ended', reply: 'R0', advice: '21', ...OWN },
  { codes: ['263'], means: 'card_updated', reply: '05', advice: '01', ...OWN },
  { codes: ['264'], means: 'retry_in_days', reply: '05', advice: '02', ...OWN },
  { codes: ['300'], means: 'refused', ...OWN },
  { codes: ['400'], means: 'unavailable', ...OWN },
]

export const APPROVES = '100'

export const SIMULATED_VOCABULARY = vocabularyOf(SIMULATED_MEANINGS, () => 'uncertain', {
  approved: APPROVES,
  declined: '200',
  insufficient_funds: '202',
  refused: '300',
})

export const { resultOfCode, refused } = resultsOf(SIMULATED_VOCABULARY)

export function networkCodes(code: string): NetworkCodes {
  const row = SIMULATED_MEANINGS.find(({ codes }) => codes[0] === code)
  return { network_code: row?.reply ?? null, advice_code: row?.advice ?? null }
}
