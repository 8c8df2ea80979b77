import { type CodeMeaning, type Meaning, vocabularyOf } from '../meanings.ts'
import { resultsOf } from '../results.ts'

const NMI = { source: "NMI's list of response codes", asOf: '2026-10' }
const VISA = { source: 'Visa Core Rules of 2026-04-18, table 7-2', asOf: '2026-10' }
const NEVER_AGAIN = {
  network: 'Visa category 1, Mastercard advice 03: the issuer will never approve',
  source:
    'Visa Core Rules of 2026-04-18, table 7-2; developers.tabapay.com/docs/excessive-retry-rules',
  asOf: '2026-10',
}
const WRONG_DATA = { network: 'Visa category 3: the data of the card are wrong or old', ...VISA }
const NO_BANK = { network: 'no answer of a bank', ...NMI }

/** NMI's response codes. Each row names its source and when that was read. */
export const NMI_MEANINGS: readonly CodeMeaning[] = [
  { codes: ['100'], means: 'approved', ...NMI },
  {
    codes: ['200', '201', '240', '260'],
    means: 'declined',
    network: 'Visa category 2 and 4, Mastercard advice 02',
    ...NMI,
  },
  {
    codes: ['202', '203'],
    means: 'insufficient_funds',
    network: 'Visa 51 and 61, Mastercard advice 24 to 30',
    ...NMI,
  },
  { codes: ['204', '220', '221', '222', '461'], means: 'card_not_supported', ...NEVER_AGAIN },
  { codes: ['223', '224'], means: 'expired_card', ...WRONG_DATA },
  { codes: ['225'], means: 'incorrect_cvv', ...WRONG_DATA },
  { codes: ['250', '251', '252', '253'], means: 'card_misused', ...NEVER_AGAIN },
  {
    codes: ['261'],
    means: 'all_agreements_ended',
    network: 'Visa R1 and R3: all agreements on the card were ended',
    ...NMI,
  },
  {
    codes: ['262'],
    means: 'agreement_ended',
    network: 'Visa R0, Mastercard advice 21: this agreement was ended at the bank',
    ...NMI,
  },
  {
    codes: ['263'],
    means: 'card_updated',
    network: 'Mastercard advice 01: new account information is available',
    ...NMI,
  },
  {
    codes: ['264'],
    means: 'retry_in_days',
    network: 'Mastercard advice 02, some days later',
    ...NMI,
  },
  // Of 300 the text of the response says why, see response.ts. With 410 and 411 the merchant's account is at fault.
  { codes: ['300', '410', '411'], means: 'refused', ...NO_BANK },
  { codes: ['400', '440', '441', '460'], means: 'unavailable', ...NO_BANK },
  // The gateway lost its connection to the card network half-way.
  { codes: ['420', '421'], means: 'uncertain', ...NO_BANK },
  { codes: ['430'], means: 'duplicate', ...NO_BANK },
]

/**
 * The meaning of a code that is not listed, by its first digit: the issuer has declined (2), or the gateway has
 * refused without asking a bank (3). Of any other the money may have moved.
 */
const meaningOfUnlisted = (code: string): Meaning => {
  if (code.startsWith('2')) return 'declined'
  return code.startsWith('3') ? 'unavailable' : 'uncertain'
}

/** The code of what the gateway itself refuses. */
export const REFUSED = '300'

export const NMI_VOCABULARY = vocabularyOf(NMI_MEANINGS, meaningOfUnlisted, {
  approved: '100',
  declined: '200',
  insufficient_funds: '202',
  refused: REFUSED,
})

export const { resultOfCode, refused } = resultsOf(NMI_VOCABULARY)
