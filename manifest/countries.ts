import { REGIONS, type Region } from './regions.ts'

/**
 * The countries that an address may have, and what an address has in each of them. Names of
 * countries are not here: `Intl.DisplayNames` has them in every language. Why no library: decision 0032.
 *
 * Rules are those of the countries we are sure of. A country without a rule of its own has
 * `GENERAL_RULE`, which accepts any address.
 */

export type RegionKind = 'region' | 'state' | 'province' | 'prefecture' | 'emirate' | 'county'
export type CityKind = 'city' | 'town' | 'suburb' | 'district'
export type PostcodeKind = 'postcode' | 'zip' | 'pin' | 'eircode'

export interface PostcodeRule {
  kind: PostcodeKind
  required: boolean
  /** A regular expression for the whole text, in either case; null where any text is fine. */
  pattern: string | null
  example: string | null
}

export interface RegionRule {
  kind: RegionKind
  required: boolean
  /** The regions to choose from; null where the region is typed. */
  choices: readonly Region[] | null
}

export interface AddressRule {
  /** The rule for postcodes; null where the country has none. */
  postcode: PostcodeRule | null
  /** The rule for regions; null where an address names none. */
  region: RegionRule | null
  /** The order in which a form asks for these, below the street. `address-lines.ts` writes the address. */
  order: readonly ('postal_code' | 'city' | 'state')[]
}

const POSTCODE_FIRST = ['postal_code', 'city', 'state'] as const
const CITY_FIRST = ['city', 'state', 'postal_code'] as const

export const GENERAL_RULE: AddressRule = {
  postcode: { kind: 'postcode', required: false, pattern: null, example: null },
  region: { kind: 'region', required: false, choices: null },
  order: POSTCODE_FIRST,
}

/** Postcode and city stand below the street, in this order, without a region. */
const EUROPEAN: Readonly<Record<string, readonly [pattern: string, example: string]>> = {
  AD: ['AD ?\\d{3}', 'AD500'],
  AL: ['\\d{4}', '1001'],
  AT: ['\\d{4}', '1010'],
  BA: ['\\d{5}', '71000'],
  BE: ['\\d{4}', '1000'],
  BG: ['\\d{4}', '1000'],
  CH: ['\\d{4}', '8001'],
  CY: ['\\d{4}', '1010'],
  CZ: ['\\d{3} ?\\d{2}', '110 00'],
  DE: ['\\d{5}', '10115'],
  DK: ['\\d{4}', '1050'],
  EE: ['\\d{5}', '10111'],
  FI: ['\\d{5}', '00100'],
  FO: ['\\d{3}', '100'],
  FR: ['\\d{5}', '75001'],
  GR: ['\\d{3} ?\\d{2}', '105 57'],
  HR: ['\\d{5}', '10000'],
  HU: ['\\d{4}', '1051'],
  IS: ['\\d{3}', '101'],
  LI: ['94\\d{2}', '9490'],
  LT: ['(LT-?)?\\d{5}', '01103'],
  LU: ['(L-?)?\\d{4}', '1475'],
  LV: ['(LV-?)?\\d{4}', 'LV-1010'],
  MC: ['980\\d{2}', '98000'],
  ME: ['8\\d{4}', '81000'],
  MK: ['\\d{4}', '1000'],
  NL: ['\\d{4} ?[A-Z]{2}', '1012 JS'],
  NO: ['\\d{4}', '0150'],
  PL: ['\\d{2}-?\\d{3}', '00-001'],
  PT: ['\\d{4}-?\\d{3}', '1100-148'],
  RS: ['\\d{5,6}', '11000'],
  SE: ['\\d{3} ?\\d{2}', '111 22'],
  SI: ['(SI-?)?\\d{4}', '1000'],
  SK: ['\\d{3} ?\\d{2}', '811 01'],
  SM: ['4789\\d', '47890'],
  VA: ['00120', '00120'],
}

/** Countries without postcodes. */
const NO_POSTCODES =
  'AE AG AO AW BF BI BJ BO BS BW BZ CD CG CM CW DJ DM FJ GM GQ HK KI KM ML MO MR QA RW SB SC SL SR TG TO TV UG VU YE ZW'.split(
    ' ',
  )

const required = (
  pattern: string,
  example: string,
  kind: PostcodeKind = 'postcode',
): PostcodeRule => ({ kind, required: true, pattern, example })

const optional = (
  pattern: string,
  example: string,
  kind: PostcodeKind = 'postcode',
): PostcodeRule => ({ ...required(pattern, example, kind), required: false })

const typed = (kind: RegionKind, isRequired = true): RegionRule => ({
  kind,
  required: isRequired,
  choices: null,
})

const listed = (kind: RegionKind, country: keyof typeof REGIONS): RegionRule => ({
  kind,
  required: true,
  choices: REGIONS[country],
})

const SPECIAL: Readonly<Record<string, AddressRule>> = {
  AE: { postcode: null, region: listed('emirate', 'AE'), order: CITY_FIRST },
  AR: {
    postcode: required('[A-Z]?\\d{4}([A-Z]{3})?', 'C1070AAM'),
    region: typed('province'),
    order: POSTCODE_FIRST,
  },
  AU: { postcode: required('\\d{4}', '2000'), region: listed('state', 'AU'), order: CITY_FIRST },
  BR: {
    postcode: required('\\d{5}-?\\d{3}', '01310-100'),
    region: listed('state', 'BR'),
    order: CITY_FIRST,
  },
  CA: {
    postcode: required('[ABCEGHJ-NPRSTVXY]\\d[A-Z] ?\\d[A-Z]\\d', 'M5V 2T6'),
    region: listed('province', 'CA'),
    order: CITY_FIRST,
  },
  CN: { postcode: required('\\d{6}', '100000'), region: typed('province'), order: CITY_FIRST },
  ES: {
    postcode: required('\\d{5}', '28013'),
    region: listed('province', 'ES'),
    order: POSTCODE_FIRST,
  },
  GB: {
    postcode: required('(GIR ?0AA|[A-Z]{1,2}\\d[A-Z\\d]? ?\\d[A-Z]{2})', 'SW1A 1AA'),
    region: null,
    order: CITY_FIRST,
  },
  IE: {
    postcode: optional('[A-Z]\\d[\\dW] ?[A-Z\\d]{4}', 'D02 X285', 'eircode'),
    region: typed('county', false),
    order: CITY_FIRST,
  },
  IL: { postcode: optional('\\d{5}(\\d{2})?', '9614303'), region: null, order: CITY_FIRST },
  IN: {
    postcode: required('[1-9]\\d{2} ?\\d{3}', '110001', 'pin'),
    region: listed('state', 'IN'),
    order: ['city', 'postal_code', 'state'],
  },
  IT: {
    postcode: required('\\d{5}', '00184'),
    region: listed('province', 'IT'),
    order: POSTCODE_FIRST,
  },
  JP: {
    postcode: required('\\d{3}-?\\d{4}', '100-0001'),
    region: listed('prefecture', 'JP'),
    order: ['postal_code', 'state', 'city'],
  },
  KR: {
    postcode: required('\\d{5}', '03187'),
    region: typed('province', false),
    order: CITY_FIRST,
  },
  MT: { postcode: required('[A-Z]{3} ?\\d{4}', 'VLT 1117'), region: null, order: CITY_FIRST },
  MX: {
    postcode: required('\\d{5}', '06000'),
    region: listed('state', 'MX'),
    order: POSTCODE_FIRST,
  },
  MY: {
    postcode: required('\\d{5}', '50000'),
    region: typed('state', false),
    order: POSTCODE_FIRST,
  },
  NZ: { postcode: required('\\d{4}', '6011'), region: null, order: CITY_FIRST },
  PR: {
    postcode: required('00[679]\\d{2}(-\\d{4})?', '00901', 'zip'),
    region: null,
    order: CITY_FIRST,
  },
  RO: {
    postcode: required('\\d{6}', '010011'),
    region: typed('region', false),
    order: POSTCODE_FIRST,
  },
  SG: { postcode: required('\\d{6}', '238801'), region: null, order: CITY_FIRST },
  TH: {
    postcode: required('\\d{5}', '10200'),
    region: typed('province', false),
    order: CITY_FIRST,
  },
  TR: {
    postcode: required('\\d{5}', '34000'),
    region: typed('province', false),
    order: POSTCODE_FIRST,
  },
  TW: { postcode: required('\\d{3}(\\d{2,3})?', '104'), region: null, order: CITY_FIRST },
  UA: {
    postcode: required('\\d{5}', '01001'),
    region: typed('region', false),
    order: CITY_FIRST,
  },
  US: {
    postcode: required('\\d{5}(-\\d{4})?', '94103', 'zip'),
    region: listed('state', 'US'),
    order: CITY_FIRST,
  },
  ZA: { postcode: required('\\d{4}', '8001'), region: typed('province', false), order: CITY_FIRST },
}

const RULES: Readonly<Record<string, AddressRule>> = {
  ...Object.fromEntries(
    Object.entries(EUROPEAN).map(([country, [pattern, example]]) => [
      country,
      { postcode: required(pattern, example), region: null, order: POSTCODE_FIRST },
    ]),
  ),
  ...Object.fromEntries(
    NO_POSTCODES.map((country) => [
      country,
      { ...GENERAL_RULE, postcode: null, order: CITY_FIRST },
    ]),
  ),
  ...SPECIAL,
}

/** The countries whose forms name the city otherwise. */
const CITY_KINDS: Readonly<Record<string, CityKind>> = {
  AU: 'suburb',
  GB: 'town',
  HK: 'district',
  IE: 'town',
  TR: 'district',
}

export const cityKindOf = (country: string): CityKind =>
  Object.hasOwn(CITY_KINDS, country) ? (CITY_KINDS[country] ?? 'city') : 'city'

/**
 * Writes a postal code as the country's post office does: in capitals, and with the space or the hyphen of the example.
 * A text that does not fit the rule stays as it is.
 */
export function tidyPostcode(country: string, text: string): string {
  const { pattern, example } = ruleOf(country).postcode ?? { pattern: null, example: null }
  if (pattern === null || example === null) return text
  const isCode = (code: string) => new RegExp(`^(?:${pattern})$`).test(code)
  const code = text.toUpperCase()
  const [, gap = '', tail = ''] = /([ -])([A-Z\d]+)$/.exec(example) ?? []
  const split = `${code.slice(0, -tail.length)}${gap}${code.slice(-tail.length)}`
  const isWhole = gap !== '' && /^[A-Z\d]+$/.test(code) && code.length > tail.length
  if (isWhole && isCode(split)) return split
  return isCode(code) ? code : text
}

export const ruleOf = (country: string): AddressRule =>
  Object.hasOwn(RULES, country) ? (RULES[country] ?? GENERAL_RULE) : GENERAL_RULE

/** The countries by ISO 3166-1 alpha-2, except places that have no inhabitants. */
export const COUNTRIES: readonly string[] =
  `AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`.split(/\s+/)

const KNOWN: ReadonlySet<unknown> = new Set(COUNTRIES)

export const isCountry = (value: unknown): value is string => KNOWN.has(value)

/**
 * The countries of `behavior.shipping.countries`, in their order; null where the store names none
 * and ships to every country. Entries that are no country are left out.
 */
export function readShippingCountries(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null
  const countries = [...new Set(value)].filter(isCountry)
  return countries.length === 0 ? null : countries
}
