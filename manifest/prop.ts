/**
 * The values that a manifest may have, as data. The platform warns by it, the storefront reads by
 * it and the documentation is written from it, so that the three cannot disagree.
 */

interface Described {
  /** What the value is for, as the documentation says it. */
  meaning: string
  /** Without it, the section has little or nothing to show. */
  required?: true
}

/** A text. `line`: one line; `email`, `slug`, `link`, `asset` and the like have a form of their own. */
export interface TextProp extends Described {
  kind: TextKind
  lengthMax: number
}

export interface NumberProp extends Described {
  kind: 'integer' | 'number'
  min: number
  max: number
  fallback: number
}

/** A whole number, an amount of cents or none. Without it there is no number, rather than a default. */
export interface WholeProp extends Described {
  kind: 'whole' | 'cents'
  min: number
  max: number
  /** Whether null means the same as no value, and is not wrong. */
  nullable?: true
}

export interface ChoiceProp extends Described {
  kind: 'choice'
  choices: readonly [string, ...string[]]
  fallback: string
}

export interface SwitchProp extends Described {
  kind: 'switch'
  fallback: boolean
}

export interface ObjectProp extends Described {
  kind: 'object'
  props: Props
}

export interface ListProp extends Described {
  kind: 'list'
  countMax: number
  of: TextProp | ObjectProp
}

export type Prop =
  | TextProp
  | NumberProp
  | WholeProp
  | ChoiceProp
  | SwitchProp
  | ObjectProp
  | ListProp
export type Props = Readonly<Record<string, Prop>>

export const TEXT_KINDS = [
  'line',
  'text',
  'markdown',
  'link',
  'email',
  'slug',
  'asset',
  'font',
  'time',
  'colour',
  'fonts',
  'length',
  'spacing',
  'country',
  'taxProvider',
] as const
export type TextKind = (typeof TEXT_KINDS)[number]

/** What a renderer gets for a prop. A text that is missing or does not have its form is null. */
export type ValueOf<P extends Prop> = P extends TextProp
  ? string | null
  : P extends NumberProp
    ? number
    : P extends WholeProp
      ? number | null
      : P extends ChoiceProp
        ? P['choices'][number]
        : P extends SwitchProp
          ? boolean
          : P extends ObjectProp
            ? ValuesOf<P['props']>
            : P extends ListProp
              ? readonly (P['of'] extends ObjectProp ? ValuesOf<P['of']['props']> : string)[]
              : never

export type ValuesOf<P extends Props> = { readonly [Name in keyof P]: ValueOf<P[Name]> }

/* The makers below keep their types narrow, so that `ValuesOf` knows each choice. */

type More = { required?: true }

const textOf =
  <K extends TextKind>(kind: K, lengthMax: number) =>
  (meaning: string, more: More & { lengthMax?: number } = {}): TextProp & { kind: K } => ({
    kind,
    meaning,
    lengthMax,
    ...more,
  })

/** One line: a heading, a name or a label. */
export const line = textOf('line', 500)
/** Plain text. An empty line begins a new paragraph. */
export const text = textOf('text', 5_000)
export const markdown = textOf('markdown', 20_000)
export const link = textOf('link', 2_000)
export const email = textOf('email', 254)
export const slug = textOf('slug', 200)
export const asset = textOf('asset', 200)
/** A web font of the store. */
export const font = textOf('font', 200)
export const time = textOf('time', 40)
export const colour = textOf('colour', 40)
export const fonts = textOf('fonts', 200)
export const length = textOf('length', 12)
export const spacing = textOf('spacing', 12)
/** The ISO 3166-1 code of a country. */
export const country = textOf('country', 2)
/** The name of a tax provider. */
export const taxProvider = textOf('taxProvider', 64)

interface Range {
  min: number
  max: number
  fallback: number
}

export const integer = (meaning: string, range: Range): NumberProp => ({
  kind: 'integer',
  meaning,
  ...range,
})

export const number = (meaning: string, range: Range): NumberProp => ({
  kind: 'number',
  meaning,
  ...range,
})

export const whole = (
  meaning: string,
  more: More & { min?: number; max: number; nullable?: true },
): WholeProp => ({ kind: 'whole', meaning, min: 0, ...more })

/** The largest amount that the platform accepts. */
const CENTS_MAX = 100_000_000_000

export const cents = (meaning: string, more: More & { nullable?: true } = {}): WholeProp => ({
  kind: 'cents',
  meaning,
  min: 0,
  max: CENTS_MAX,
  ...more,
})

/** Makes a prop with choices, of which the first is the default. */
export const choice = <const C extends readonly [string, ...string[]]>(
  meaning: string,
  choices: C,
): ChoiceProp & { choices: C } => ({ kind: 'choice', meaning, choices, fallback: choices[0] })

export const toggle = (meaning: string, fallback: boolean): SwitchProp => ({
  kind: 'switch',
  meaning,
  fallback,
})

export const object = <P extends Props>(meaning: string, props: P): ObjectProp & { props: P } => ({
  kind: 'object',
  meaning,
  props,
})

export const list = <O extends TextProp | ObjectProp>(
  meaning: string,
  countMax: number,
  of: O,
  more: More = {},
): ListProp & { of: O } => ({ kind: 'list', meaning, countMax, of, ...more })
