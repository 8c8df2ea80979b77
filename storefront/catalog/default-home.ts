import { mailTo } from '../../manifest/links.ts'
import { SECTION_TYPES } from '../../manifest/section-types.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { readSections, type Section } from '../site/sections.ts'
import type { Site } from '../site/site.ts'

/** The home page of a store whose manifest describes none, or that has no products yet. */

/** Whether any section of the manifest stands on the home page itself. */
export const hasOwnSections = ({ sections }: Site): boolean =>
  sections.some(({ type }) => type !== null && SECTION_TYPES[type].placement === 'page')

/** The sections of the default home page: the name of the store, its newest products and its collections. */
export function defaultSections({ brand, seo, locale }: Site): readonly Section[] {
  const { texts } = locale
  return readSections([
    {
      type: 'hero',
      props: {
        heading: brand.name,
        subheading: brand.tagline ?? seo.description ?? undefined,
        cta: { label: texts.seeAllProducts, href: '/products' },
      },
    },
    { type: 'product-grid', props: { heading: texts.newProducts, limit: 12 } },
    { type: 'collection-list', props: { heading: texts.collections } },
  ])
}

/** The home page of a store without products, as the public sees it. */
export function openingSoon({ site }: PageContext): Html {
  const { texts } = site.locale
  const { name, tagline } = site.brand
  const to = mailTo(site.email)
  return html`<section class="hero hero-plain opening"><div class="hero-text"><p class="eyebrow">${texts.openingSoon}</p><h1>${name}</h1>${
    tagline && html`<p class="lead">${tagline}</p>`
  }<p>${texts.openingSoonNote}</p>${to !== null && html`<p><a class="button" href="${to}">${texts.emailUs}</a></p>`}</div></section>`
}

/** The next steps for the owner of a store without products. Shown in a preview only. */
export function ownerSteps({ site }: PageContext, { isDraft }: { isDraft: boolean }): Html {
  const { texts } = site.locale
  const steps = [
    ...(isDraft ? [texts.ownerLive] : []),
    texts.ownerProducts,
    ...(hasOwnSections(site) ? [] : [texts.ownerSections]),
    ...(site.pages.length > 0 ? [] : [texts.ownerPages]),
  ]
  return html`<aside class="wrap section owner" aria-labelledby="owner"><h2 id="owner">${texts.ownerNext}</h2><p>${isDraft ? texts.ownerDraftNote : texts.ownerEmptyNote}</p><ol>${steps.map((each) => html`<li>${each}</li>`)}</ol></aside>`
}
