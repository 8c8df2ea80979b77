import { isCountry } from './countries.ts'

/**
 * An address as the post of its country writes it. Documents, mails, labels and the storefront all
 * write it here, so that a shopper reads the same lines everywhere (decision 0032).
 */
export interface WrittenAddress {
  name?: string | null | undefined
  line1: string
  line2?: string | null | undefined
  city: string
  state: string
  postal_code: string
  country: string
}

/** The parts of a format: name, lines of the street, postal code, city, state. */
type Part = 'N' | 'A' | 'Z' | 'C' | 'S'

/** What stands below name and street, unless a country is listed. A part without a value leaves no gap. */
const USUAL = 'N|A|Z C|S'

/**
 * The formats of other countries. `|` ends a line; any other sign between two parts is written only between
 * two values. They are those of libaddressinput, except that none leaves out a part that our form asks for.
 */
const FORMATS: Readonly<Record<string, string>> = {
  'N|A|C S Z': 'AS AU CA CC CX FM MH MP NF PR PW UM VI',
  'N|A|C, S Z': 'BB JP SO TW US',
  'N|A|C|S|Z':
    'AC AE AF AI EG FK GB GG GI GS HK IE IM IO JE JM KE KR LK PA PN RU SC SD SH SR SZ TC TV UA VG ZA',
  'N|A|C Z|S': 'BH BM BN BT GU IL IN JO KH LB LS MT MV NG NP NZ PE SA SG VC',
  'N|A|C|S Z': 'ID KY MN PH TH VN',
  'N|A|C|S, Z': 'CN KP',
  'N|A|C, S': 'BS KN',
  'N|A|C, S|Z': 'HN IQ',
  'N|A|C, S, Z': 'CO',
  'N|A|C S|Z': 'CU',
  'N|A|C Z S': 'PG',
  'N|A|C Z, S': 'VE',
  'N|A|C, Z|S': 'MM',
  'N|A|C - Z|S': 'BD',
  'N|A|C-Z|S': 'PK',
  'N|A|C-S|Z': 'BR',
  'N|C|A|Z|S': 'HU',
  'N|A|S, C|Z': 'CR',
  'N|A|S|C': 'KI',
  'N|A|S|C, Z': 'LV',
  'N|A|Z|C|S': 'AL AM EC MU OM',
  'N|A|Z|C, S': 'NI',
  'N|A|Z, C|S': 'BY',
  'N|A|Z C S': 'EE ES IT LT PF UY',
  'N|A|Z C, S': 'MX',
  'N|A|Z C/S': 'TR',
  'N|A|Z- C|S': 'GT',
  'N|A|Z-C|S': 'SV',
}

/** The formats of addresses in the script of the country: the largest place first, the person last. */
const OWN_SCRIPT: Readonly<Record<string, string>> = {
  'Z|SC|A|N': 'CN TW',
  'Z|S|C|A|N': 'KP',
  '〒Z|SC|A|N': 'JP',
  'S C|A|N|Z': 'KR',
  'S|C|A|N': 'HK MO',
}

const byCountry = (formats: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(formats).flatMap(([format, countries]) =>
      countries.split(' ').map((country) => [country, format] as const),
    ),
  )

const LATIN = byCountry(FORMATS)
const NATIVE = byCountry(OWN_SCRIPT)

const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Returns the format of an address: by its country, and by the script that it is written in. */
function formatOf(country: string, { line1, city }: WrittenAddress): string {
  const native = NATIVE.get(country)
  if (native !== undefined && EAST_ASIAN.test(line1 + city)) return native
  return LATIN.get(country) ?? USUAL
}

/** The code of a country as our lists have it. A caller of the API may have written it in small letters. */
const codeOf = (country: string): string => {
  const code = country.trim().toUpperCase()
  return isCountry(code) ? code : country
}

/**
 * Writes an address in lines, its country last. A label such as "Home" is for the shopper's own eyes and no
 * part of it. Every part that has a value is written, also one that the country's addresses do not have.
 */
export function addressLines(
  address: WrittenAddress,
  countryName: (code: string) => string,
): string[] {
  const country = codeOf(address.country)
  const format = formatOf(country, address)
  const values: Record<Part, string> = {
    N: clean(address.name),
    A: [address.line1, address.line2].map(clean).filter(Boolean).join('\n'),
    Z: clean(address.postal_code),
    C: clean(address.city),
    S: clean(address.state),
  }
  const left = PARTS.filter((part) => !format.includes(part)).map((part) => values[part])
  const lines = format.split('|').map((line) => writeLine(line, values))
  return [...lines, ...left, countryName(country)]
    .flatMap((line) => line.split('\n'))
    .filter(Boolean)
}

const PARTS: readonly Part[] = ['N', 'A', 'C', 'S', 'Z']

/** Makes a value one line, so that it cannot look like two lines of an address. */
const clean = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim()

const isPart = (sign: string): sign is Part => PARTS.some((part) => part === sign)

/** Writes one line of a format. A sign before a part is left out with it, and at the beginning of a line. */
function writeLine(format: string, values: Readonly<Record<Part, string>>): string {
  let written = ''
  for (const [, sign = '', part = ''] of format.matchAll(/([^NAZCS]*)([NAZCS])/g)) {
    const value = isPart(part) ? values[part] : ''
    if (value === '') continue
    const isPrefix = written === '' && sign !== '〒'
    written += isPrefix ? value : sign + value
  }
  return written
}
