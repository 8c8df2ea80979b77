import { createHash } from 'node:crypto'
import { BEHAVIOR_PROPS, BRAND_PROPS } from '../../../manifest/behavior-props.ts'
import { MENU_PROPS, PAGE_PROPS } from '../../../manifest/page-props.ts'
import type { Prop, Props } from '../../../manifest/prop.ts'
import { SECTION_TYPES, type SectionType } from '../../../manifest/section-types.ts'
import { THEME_TOKENS } from '../../../manifest/theme-tokens.ts'
import type { SectionCatalog, SectionProp } from './schema.ts'

/** Builds the section types and theme tokens as `GET /v1/sections` answers them. */
export const sectionCatalog = (): SectionCatalog => ({
  sections: Object.entries<SectionType>(SECTION_TYPES).map(
    ([type, { title, meaning, placement, countMax = null, props, example, picture }]) => ({
      type,
      title,
      meaning,
      placement,
      count_max: countMax,
      props: describeProps(props),
      example: { ...example },
      picture,
    }),
  ),
  pages: describeProps(PAGE_PROPS),
  menus: describeProps(MENU_PROPS),
  behavior: describeProps(BEHAVIOR_PROPS),
  brand: describeProps(BRAND_PROPS),
  theme: Object.fromEntries(
    Object.entries<Props>(THEME_TOKENS).map(([block, tokens]) => [block, describeProps(tokens)]),
  ),
})

const describeProps = (props: Props): Record<string, SectionProp> =>
  Object.fromEntries(Object.entries(props).map(([name, prop]) => [name, describe(prop)]))

function describe(prop: Prop): SectionProp {
  const { kind, meaning, required = false } = prop
  const described = {
    kind,
    meaning,
    required,
    default: 'fallback' in prop ? prop.fallback : null,
  }
  switch (prop.kind) {
    case 'integer':
    case 'number':
    case 'whole':
    case 'cents':
      return { ...described, min: prop.min, max: prop.max }
    case 'choice':
      return { ...described, choices: [...prop.choices] }
    case 'switch':
      return described
    case 'object':
      return { ...described, props: describeProps(prop.props) }
    case 'list': {
      const { countMax, of } = prop
      const entry = of.kind === 'object' ? { props: describeProps(of.props) } : {}
      return { ...described, count_max: countMax, entry_kind: of.kind, ...entry }
    }
    default:
      return { ...described, length_max: prop.lengthMax }
  }
}

/** Builds the text of the answer and its entity tag. It changes only with a release. */
export function sectionCatalogText(): { text: string; etag: string } {
  const text = JSON.stringify(sectionCatalog())
  const hash = createHash('sha256').update(text).digest('hex')
  return { text, etag: `"${hash}"` }
}
