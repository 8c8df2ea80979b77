import { FORMS } from './forms.ts'
import { markdownWeight, TEXT_WEIGHT_MAX } from './markdown-weight.ts'
import type {
  ChoiceProp,
  ListProp,
  NumberProp,
  Prop,
  Props,
  TextProp,
  ValuesOf,
  WholeProp,
} from './prop.ts'

/**
 * Reads values of a manifest, which may hold anything, and lists what is wrong with them. A value without a fault is
 * read as it is. A value with a fault is read as its default, or cut to its limit.
 */

/** What is wrong with a value, at a JSON Pointer below the value. */
export interface Fault {
  path: string
  message: string
}

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads each of the props. Other members of the value are left out. */
export function readProps<P extends Props>(props: P, value: unknown): ValuesOf<P> {
  const given = isObject(value) ? value : {}
  const read = Object.entries(props).map(([name, prop]) => [
    name,
    readValue(prop, Object.hasOwn(given, name) ? given[name] : undefined),
  ])
  return Object.fromEntries(read) as ValuesOf<P>
}

function readValue(prop: Prop, value: unknown): unknown {
  switch (prop.kind) {
    case 'integer':
    case 'number':
      return readNumber(prop, value)
    case 'whole':
    case 'cents':
      return isWhole(prop, value) ? value : null
    case 'choice':
      return prop.choices.find((each) => each === value) ?? prop.fallback
    case 'switch':
      return typeof value === 'boolean' ? value : prop.fallback
    case 'object':
      return readProps(prop.props, value)
    case 'list':
      return readList(prop, value)
    default:
      return readText(prop, value)
  }
}

/** Reads a text; null where it is missing, blank or not of its form. A long text without a form is cut off. */
function readText({ kind, lengthMax }: TextProp, value: unknown): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null
  const form = FORMS[kind]
  if (form === undefined) return value.slice(0, lengthMax).toWellFormed()
  return value.length <= lengthMax ? form.read(value) : null
}

/**
 * Reads a number. `Number` is called with a text only: an object of a manifest may have members that
 * make `Number` and `String` throw, such as `{"toString": 1}`.
 */
function readNumber({ kind, min, max, fallback }: NumberProp, value: unknown): number {
  const text = typeof value === 'string' && value.length <= 40 ? value.trim() : ''
  const given = typeof value === 'number' ? value : text === '' ? Number.NaN : Number(text)
  if (Number.isNaN(given)) return fallback
  return Math.min(Math.max(kind === 'integer' ? Math.round(given) : given, min), max)
}

const isWhole = ({ min, max }: WholeProp, value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max

function readList({ countMax, of }: ListProp, value: unknown): readonly unknown[] {
  const given = Array.isArray(value) ? value.slice(0, countMax) : []
  return of.kind === 'object'
    ? given.map((each) => readProps(of.props, each))
    : given.map((each) => readText(of, each)).filter((each) => each !== null)
}

/** Lists what is wrong with an object of these props, at most `max` faults. */
export function listFaults(props: Props, value: JsonObject, max: number): Fault[] {
  const faults: Fault[] = []
  for (const [name, prop] of Object.entries(props)) {
    if (faults.length >= max) break
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    faults.push(...faultsOf(prop, given, `/${name}`))
  }
  return [...faults, ...listUnknown(props, value, max)].slice(0, max)
}

/** Lists the members of an object that are none of these props, at most `max`. */
export function listUnknown(props: Props, value: JsonObject, max: number): Fault[] {
  const known = Object.keys(props).join(', ')
  return (
    Object.keys(value)
      // A renderer of the merchant's own may read more: such names begin with x-.
      .filter((name) => !Object.hasOwn(props, name) && !name.startsWith('x-'))
      .slice(0, max)
      .map((name) => ({
        path: `/${pointerPart(name)}`,
        message: `is not known here: it may be one of ${known}`,
      }))
  )
}

/** A member's name as a part of a JSON Pointer, cut to a readable length. */
export const pointerPart = (name: string) =>
  name.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')

function faultsOf(prop: Prop, value: unknown, path: string): Fault[] {
  if (value === undefined) {
    return prop.required ? [{ path, message: 'is missing' }] : []
  }
  switch (prop.kind) {
    case 'integer':
    case 'number':
      return told(path, numberFault(prop, value))
    case 'whole':
    case 'cents':
      return told(path, wholeFault(prop, value))
    case 'choice':
      return told(path, choiceFault(prop, value))
    case 'switch':
      return told(path, typeof value === 'boolean' ? null : 'must be true or false')
    case 'object':
      return isObject(value) ? below(path, prop.props, value) : told(path, 'must be an object')
    case 'list':
      return listFaultsOf(prop, value, path)
    default:
      return told(path, textFault(prop, value))
  }
}

const told = (path: string, message: string | null): Fault[] =>
  message === null ? [] : [{ path, message }]

/** More faults of one value than a person reads. */
const FAULTS_MAX = 10

const below = (path: string, props: Props, value: JsonObject): Fault[] =>
  listFaults(props, value, FAULTS_MAX).map((each) => ({ ...each, path: path + each.path }))

const TOO_HEAVY =
  'has too many marks, lines and cells of tables to be shown as Markdown: it is shown as it is written'

function textFault({ kind, lengthMax, required }: TextProp, value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a text'
  if (value.trim() === '') return required ? 'must not be empty' : null
  const form = FORMS[kind]
  if (form !== undefined && form.read(value) === null) return `must be ${form.expected}`
  if (value.length > lengthMax) return `must have at most ${lengthMax} characters`
  if (kind === 'markdown' && markdownWeight(value) > TEXT_WEIGHT_MAX) return TOO_HEAVY
  return null
}

function numberFault({ kind, min, max, fallback }: NumberProp, value: unknown): string | null {
  const isKind = kind === 'integer' ? Number.isInteger(value) : typeof value === 'number'
  if (isKind && (value as number) >= min && (value as number) <= max) return null
  const what = kind === 'integer' ? 'a whole number' : 'a number'
  return `must be ${what} from ${min} to ${max}; without it, it is ${fallback}`
}

function wholeFault(prop: WholeProp, value: unknown): string | null {
  const { kind, min, max, nullable } = prop
  if (isWhole(prop, value) || (nullable && value === null)) return null
  const what = kind === 'cents' ? 'a whole number of cents' : 'a whole number'
  return `must be ${what} from ${min} to ${max}${nullable ? ', or null' : ''}`
}

const choiceFault = ({ choices, fallback }: ChoiceProp, value: unknown): string | null =>
  choices.some((each) => each === value)
    ? null
    : `must be one of ${choices.join(', ')}; shown as ${fallback}`

function listFaultsOf({ countMax, of }: ListProp, value: unknown, path: string): Fault[] {
  if (!Array.isArray(value)) return told(path, 'must be a list')
  const tooMany = value.length > countMax ? `must have at most ${countMax} entries` : null
  const entries = value
    .slice(0, countMax)
    .flatMap((each, index) => faultsOf(of, each ?? null, `${path}/${index}`))
  return [...told(path, tooMany), ...entries].slice(0, FAULTS_MAX)
}
