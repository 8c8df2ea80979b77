import type { Product, Variant } from '../api/types.ts'

/** The choices of a shopper on a product page: one group for each option of the variants. */
export interface ChoiceGroup {
  /** The name of the option; null if the variants have labels only. */
  name: string | null
  choices: readonly Choice[]
}

export interface Choice {
  text: string
  /** The variant of this choice: with the other chosen values, or the nearest one to them. */
  variant: Variant
  isChosen: boolean
  /**
   * The chosen values that no variant has together with this choice, such as a colour. Choosing it changes them, too.
   */
  notWith: readonly string[]
}

/** The variant that is shown first: one that can be bought, if there is any. */
export const chooseVariant = ({ variants }: Product): Variant | undefined =>
  variants.find((each) => each.available) ?? variants[0]

/** Returns the groups of choices for a product; empty if there is nothing to choose. */
export function choiceGroups(product: Product, chosen: Variant): ChoiceGroup[] {
  const { variants, option_names: names } = product
  if (variants.length < 2) return []
  const isStructured =
    names.length > 0 &&
    variants.every((each) => names.every((name) => optionOf(each, name) !== null))
  if (!isStructured) return [{ name: null, choices: variants.map((each) => byLabel(each, chosen)) }]
  return names.map((name) => ({ name, choices: choicesOf(product, chosen, name) }))
}

const byLabel = (variant: Variant, chosen: Variant): Choice => ({
  text: variant.label ?? variant.sku,
  variant,
  isChosen: variant === chosen,
  notWith: [],
})

/** Folds a name or a value for comparison: without regard to case, as the platform compares them. */
const fold = (text: string) => text.toLowerCase()

const optionOf = ({ options }: Variant, name: string): string | null =>
  options.find((each) => fold(each.name) === fold(name))?.value ?? null

const isAlike = (one: string | null, other: string | null) => fold(one ?? '') === fold(other ?? '')

/** The values of one option, each once, in the order of the variants. */
function choicesOf({ variants, option_names }: Product, chosen: Variant, name: string): Choice[] {
  const others = option_names.filter((each) => each !== name)
  const byValue = Map.groupBy(variants, (each) => fold(optionOf(each, name) ?? ''))
  const current = optionOf(chosen, name)
  return [...byValue.values()].map((sold) => {
    const variant = isAlike(optionOf(sold[0] ?? chosen, name), current)
      ? chosen
      : nearest(sold, chosen, others)
    const changed = others.filter(
      (other) => !isAlike(optionOf(variant, other), optionOf(chosen, other)),
    )
    return {
      text: optionOf(variant, name) ?? '',
      variant,
      isChosen: variant === chosen,
      notWith: changed.map((other) => optionOf(chosen, other) ?? ''),
    }
  })
}

/** The variant that shares most values with the chosen one. Among equals, the first that can be bought. */
function nearest(variants: readonly Variant[], chosen: Variant, names: readonly string[]): Variant {
  const shared = (each: Variant) =>
    names.filter((name) => isAlike(optionOf(each, name), optionOf(chosen, name))).length
  const rank = (each: Variant) => 2 * shared(each) + (each.available ? 1 : 0)
  return variants.reduce((best, each) => (rank(each) > rank(best) ? each : best))
}
