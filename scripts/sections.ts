import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { BEHAVIOR_PROPS, BRAND_PROPS } from '../manifest/behavior-props.ts'
import { PAGE_WEIGHT_MAX, TEXT_WEIGHT_MAX } from '../manifest/markdown-weight.ts'
import { LEGAL_KINDS, MENU_PROPS, PAGE_PROPS, PAGES_MAX } from '../manifest/page-props.ts'
import { POLICY_EXAMPLES, type PolicyExample } from '../manifest/policies.ts'
import type { Prop, Props } from '../manifest/prop.ts'
import { SECTION_TYPES, type SectionType } from '../manifest/section-types.ts'
import { THEME_TOKENS } from '../manifest/theme-tokens.ts'
import { writeOrCheck } from './compare.ts'

/** Writes docs/reference/sections.md and its pictures from the section types. `--check` only compares. */

const DOCS = fileURLToPath(new URL('../docs/reference/', import.meta.url))

function limitOf(prop: Prop): string {
  switch (prop.kind) {
    case 'integer':
    case 'number':
      return `${prop.min} to ${prop.max}, default ${prop.fallback}`
    case 'whole':
    case 'cents':
      return `${prop.min} to ${prop.max}${prop.nullable ? ', or `null`' : ''}`
    case 'choice':
      return prop.choices
        .map((each) => (each === prop.fallback ? `\`${each}\` (default)` : `\`${each}\``))
        .join(', ')
    case 'switch':
      return `default \`${prop.fallback}\``
    case 'object':
      return ''
    case 'list':
      return `at most ${prop.countMax}`
    default:
      return `at most ${prop.lengthMax} characters`
  }
}

const kindOf = (prop: Prop): string =>
  prop.kind === 'list' ? `list of ${prop.of.kind}` : prop.kind

function rows(props: Props, before = ''): string[] {
  return Object.entries(props).flatMap(([name, prop]) => {
    const shown = `${before}${name}`
    const must = prop.required ? ' **Needed.**' : ''
    const line = `| \`${shown}\` | ${kindOf(prop)} | ${limitOf(prop)} | ${prop.meaning}${must} |`
    if (prop.kind === 'object') return [line, ...rows(prop.props, `${shown}.`)]
    if (prop.kind === 'list' && prop.of.kind === 'object') {
      return [line, ...rows(prop.of.props, `${shown}[].`)]
    }
    return [line]
  })
}

const table = (props: Props): string =>
  ['| Prop | Form | Limit | Meaning |', '|---|---|---|---|', ...rows(props)].join('\n')

const PLACES = {
  page: '',
  header: ' It stands above every page.',
  footer: ' It stands below every page.',
}

const sectionText = ([type, { title, meaning, placement, countMax, props, example }]: [
  string,
  SectionType,
]): string => `### ${type}

<img src="sections/${type}.svg" width="240" alt="A drawing of the section ${type}">

**${title}.** ${meaning}${PLACES[placement]}${countMax === undefined ? '' : ` At most ${countMax} are shown.`}

${table(props)}

\`\`\`json
${JSON.stringify({ type, props: example }, null, 2)}
\`\`\`
`

const money = (cents: number) => (cents / 100).toFixed(2)

function policyText({ title, manifest, goods_cents, expedited, costs }: PolicyExample): string {
  const { shipping_cents, tax_cents, total_cents } = costs
  const inside = manifest.tax?.prices_include_tax ? ' of it' : ''
  return `${title}. Goods for ${money(goods_cents)}${expedited ? ', expedited,' : ''} then cost ${money(total_cents)}: shipping
${money(shipping_cents)}, tax ${money(tax_cents)}${inside}.

\`\`\`json
${JSON.stringify(manifest, null, 2)}
\`\`\``
}

const { shipping, tax, ...switches } = BEHAVIOR_PROPS

const types = Object.entries<SectionType>(SECTION_TYPES)

const text = `# Sections of a site

The home page of a store is a list of sections in its manifest: \`template.sections\`, each with a \`type\` and
\`props\`. This page lists every type that the reference storefront shows. It is generated from
\`manifest/section-types.ts\` by \`npm run sections\`; \`GET /v1/sections\` answers the same as JSON.

A value that does not have its form is a warning in the answer to the save, with its path in the manifest, and never a
refusal. A storefront reads such a value as its default, or cuts it to its limit. A prop whose name begins with \`x-\`
is the merchant's own and gets no warning.

Forms: a **line** is one line of text, a **text** has paragraphs between empty lines, **markdown** is explained
[below](#markdown), a **link** is a path of the store or an address with \`https:\`, \`http:\`, \`mailto:\` or \`tel:\`, an
**asset** is the name of an uploaded file (\`asset:<tenant>/<sha256>.<ext>\`), a **font** is
one that ends in \`.woff2\`, a **slug** names a product, a collection
or a page.

| Type | |
|---|---|
${types.map(([type, { meaning }]) => `| [\`${type}\`](#${type}) | ${meaning} |`).join('\n')}

${types.map(sectionText).join('\n')}
## Markdown

Headings (\`#\`), lists, quotes (\`>\`), tables, rules (\`---\`), \`**bold**\`, \`*slanted*\`, \`code\` and
\`[links](/pages/about)\`. A line end stays a line end. Links lead to \`https:\`, \`http:\`, \`mailto:\` or a path of the
store; a link of any other kind, HTML and images are shown as the text that they are. The storefront chooses the level of
headings, so that none is left out.

A text with very many marks, lines and cells of tables is shown as it is written, and a page shows no sections beyond the one
with which its texts have too many: ${TEXT_WEIGHT_MAX.toLocaleString('en')} for a text and ${PAGE_WEIGHT_MAX.toLocaleString('en')} for a page, where each mark counts one, each line three
and each cell two. Saving a site warns of both.

## Pages

\`pages\` is a list in the manifest, at most ${PAGES_MAX}: content pages at \`/pages/{slug}\`, each with \`body_markdown\`
or \`sections\` (as on the home page), or both. They are in the sitemap, and in the footer unless \`menus.footer\` says
otherwise. Pages of the kinds ${LEGAL_KINDS.map((each) => `\`${each}\``).join(', ')} are linked at the checkout.

${table(PAGE_PROPS)}

\`\`\`json
${JSON.stringify({ pages: [{ slug: 'impressum', kind: 'imprint', title: 'Impressum', body_markdown: 'Harbour GmbH\nKai 1\n20457 Hamburg' }] }, null, 2)}
\`\`\`

## Menus

\`menus.header\` and \`menus.footer\`. Each entry has a label and leads to one place. An entry whose page the manifest does
not have is a warning, and is not shown; whether a collection or a product exists is not checked.

${table(MENU_PROPS)}

\`\`\`json
${JSON.stringify(
  {
    menus: {
      header: [
        { label: 'Tableware', collection: 'tableware' },
        { label: 'About', page: 'about' },
      ],
    },
  },
  null,
  2,
)}
\`\`\`

## Policies

\`behavior.shipping\` and \`behavior.tax\` say what shoppers pay beside the goods. The storefront sends both with each preview and
checkout. Other values of a manifest are read as well as possible; a policy that is there is read as a whole: one that is no object,
lacks a member that is needed or has a value of another form is refused with 422 \`unreadable_policy\`, which names each place, when a
draft is saved and when it is published. A member that is not known is a warning; where shipping has no
price, it is a fault, since it was most likely meant as one. \`null\` is the same as no policy.

### behavior.shipping

${shipping.meaning} \`countries\` may stand alone.

${table(shipping.props)}

### behavior.tax

${tax.meaning} Whether it is added to the prices or inside them is said by \`tax.prices_include_tax\`, beside \`behavior\`: \`true\`
means that all prices, also that of shipping, have the tax inside. A provider is asked for the tax of an address.

${table(tax.props)}

### Examples

${POLICY_EXAMPLES.map(policyText).join('\n\n')}

## Behavior

The other members of \`behavior\`. What is not known or has another form is a warning, and is read as its default.

${table(switches)}

## Brand

The members of \`brand\`.

${table(BRAND_PROPS)}

## Theme

${Object.entries<Props>(THEME_TOKENS)
  .map(([block, tokens]) => `### theme.${block}\n\n${table(tokens)}`)
  .join('\n\n')}
`

const args = process.argv.slice(2)
await mkdir(`${DOCS}sections`, { recursive: true })
await writeOrCheck(`${DOCS}sections.md`, text, args)
for (const [type, { picture }] of types) {
  await writeOrCheck(`${DOCS}sections/${type}.svg`, `${picture}\n`, args)
}
