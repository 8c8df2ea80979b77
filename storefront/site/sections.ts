import { countShownSections } from '../../manifest/page-weight.ts'
import { readProps } from '../../manifest/read-props.ts'
import {
  isSectionName,
  type PropsOf,
  SECTION_TYPES,
  type SectionName,
  type SectionType,
} from '../../manifest/section-types.ts'
import { asLine, asList, asObject } from './manifest.ts'

/** The sections of a page, as a renderer gets them. */

/** A section of a known type, with its props as `manifest/section-types.ts` describes them. */
export type KnownSection<Name extends SectionName = SectionName> = {
  [Each in Name]: { type: Each; props: PropsOf<Each> }
}[Name]

/** A section as the manifest has it: one of an unknown type has no props that can be read. */
export type Section = KnownSection | { type: null; name: string }

/** Reads the sections of a page, as many as a page shows. `above` is the text of the page itself. */
export function readSections(value: unknown, above: string | null = null): Section[] {
  const sections = asList(value)
  return sections.slice(0, countShownSections(sections, above)).map((each) => {
    const { type, props } = asObject(each)
    const name = asLine(type) ?? ''
    if (!isSectionName(name)) return { type: null, name }
    return { type: name, props: readProps(SECTION_TYPES[name].props, props) } as KnownSection
  })
}

/** The sections of one type, in order, as many as are shown of it. */
export function sectionsOf<Name extends SectionName>(
  { sections }: { sections: readonly Section[] },
  type: Name,
): readonly KnownSection<Name>[] {
  const shown = sections.filter((each) => each.type === type) as unknown as KnownSection<Name>[]
  const { countMax }: SectionType = SECTION_TYPES[type]
  return shown.slice(0, countMax)
}
