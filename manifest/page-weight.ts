import { markdownWeight, PAGE_WEIGHT_MAX, TEXT_WEIGHT_MAX } from './markdown-weight.ts'
import type { Prop, Props } from './prop.ts'
import { readProps } from './read-props.ts'
import { isSectionName, SECTION_TYPES } from './section-types.ts'

/**
 * How many of the sections of a page are shown: rendering their texts takes only so much time for a page
 * (decision 0073).
 */

/** Weighs a text as a page shows it. A text that is too heavy is shown unrendered, which costs next to nothing. */
export function shownWeight(text: string | null): number {
  const weight = text === null ? 0 : markdownWeight(text)
  return weight > TEXT_WEIGHT_MAX ? 0 : weight
}

/**
 * Counts the sections that are shown: those before the section that makes the page's texts too heavy. `above` is the
 * page's own text.
 */
export function countShownSections(
  sections: readonly unknown[],
  above: string | null = null,
): number {
  let weight = shownWeight(above)
  for (const [at, section] of sections.entries()) {
    weight += sectionWeight(section)
    if (weight > PAGE_WEIGHT_MAX) return at
  }
  return sections.length
}

function sectionWeight(section: unknown): number {
  const { type, props } = Object(section) as { type?: unknown; props?: unknown }
  if (typeof type !== 'string' || !isSectionName(type)) return 0
  const described: Props = SECTION_TYPES[type].props
  if (!MARKDOWN_TYPES.has(type)) return 0
  return weightOf({ kind: 'object', meaning: '', props: described }, readProps(described, props))
}

/** The types with a text in Markdown; all others need not be read. */
const MARKDOWN_TYPES: ReadonlySet<string> = new Set(
  Object.entries<{ props: Props }>(SECTION_TYPES).flatMap(([type, { props }]) =>
    JSON.stringify(props).includes('"kind":"markdown"') ? [type] : [],
  ),
)

function weightOf(prop: Prop, value: unknown): number {
  if (prop.kind === 'markdown') return shownWeight(value as string | null)
  if (prop.kind === 'list') return sum((value as unknown[]).map((each) => weightOf(prop.of, each)))
  if (prop.kind !== 'object') return 0
  const members = value as Record<string, unknown>
  return sum(Object.entries(prop.props).map(([name, each]) => weightOf(each, members[name])))
}

const sum = (weights: readonly number[]): number => weights.reduce((all, each) => all + each, 0)
