import {
  asset,
  choice,
  email,
  integer,
  line,
  link,
  list,
  markdown,
  object,
  type Props,
  slug,
  text,
  time,
  type ValuesOf,
} from './prop.ts'
import { band, button, drawing, photo, play, row, rule, words } from './section-pictures.ts'

/**
 * Every type of section that the reference storefront shows. A manifest may have any other type: it
 * is stored, with a warning. `npm run sections` writes docs/reference/sections.md from this file.
 */
export interface SectionType {
  title: string
  /** What a shopper sees. */
  meaning: string
  /** Where it stands: in its place on the page, or above or below every page. */
  placement: 'page' | 'header' | 'footer'
  /** How many sections of this type are shown; further ones are not. */
  countMax?: number
  props: Props
  picture: string
  /** Props that a section of this type may have. */
  example: Readonly<Record<string, unknown>>
}

const heading = line('The heading of the section.')
const cta = object('A button. It is shown if it has a link.', {
  label: line('The text of the button; else the storefront has one.'),
  href: link('Where the button leads.', { required: true }),
})

const EXAMPLE_IMAGE = `asset:acme/${'0'.repeat(64)}.jpg`

const BANNERS = {
  announcement: {
    title: 'Announcement',
    meaning: 'A line above every page: free delivery, holidays, a sale.',
    placement: 'header',
    countMax: 3,
    props: {
      text: line('What is announced.', { required: true }),
      href: link('Makes the line a link.'),
    },
    picture: drawing(
      band(1, 12),
      words(45, 6, 70),
      words(12, 22, 26, true),
      row(3, 26, (x) => words(x + 66, 24, 18)),
      photo(12, 38, 136, 50),
    ),
    example: { text: 'Free delivery over $60', href: '/pages/shipping' },
  },
  hero: {
    title: 'Hero',
    meaning: 'The first thing on a page: a large heading, with an image and a button.',
    placement: 'page',
    props: {
      heading: line('The title of the page.', { required: true }),
      eyebrow: line('A few words above the heading.'),
      subheading: text('A sentence below the heading.'),
      imageRef: asset('The image beside or behind the text (`theme.layout.hero` says which).'),
      imageAlt: line('What the image shows, for people who do not see it.'),
      cta,
    },
    picture: drawing(
      words(12, 26, 22),
      words(12, 34, 52, true),
      words(12, 43, 40, true),
      words(12, 55, 46),
      button(12, 65),
      photo(76, 10, 72, 80),
    ),
    example: {
      eyebrow: 'The winter table',
      heading: 'Made for slow mornings',
      subheading: 'Stoneware, wool and good coffee.',
      cta: { label: 'Look around', href: '/products' },
    },
  },
} as const satisfies Record<string, SectionType>

const CATALOG = {
  'product-grid': {
    title: 'Product grid',
    meaning: 'Products as cards: of one collection, or the newest of all.',
    placement: 'page',
    props: {
      heading,
      collection: slug('The slug of a collection. Without it, the newest products are shown.'),
      limit: integer('How many products are shown.', { min: 1, max: 100, fallback: 8 }),
      columns: integer('How many stand side by side on a wide screen.', {
        min: 1,
        max: 6,
        fallback: 4,
      }),
    },
    picture: drawing(
      words(12, 12, 44, true),
      row(4, 35, (x) => photo(x, 26, 31, 31) + words(x, 61, 24) + words(x, 67, 14)),
      row(4, 35, (x) => photo(x, 76, 31, 23)),
    ),
    example: { heading: 'New this week', collection: 'new', limit: 8, columns: 4 },
  },
  'featured-product': {
    title: 'Featured product',
    meaning: 'One product with a large image, its price and its description.',
    placement: 'page',
    props: {
      slug: slug('The slug of the product.', { required: true }),
      heading: line('A few words above its name.'),
    },
    picture: drawing(
      photo(12, 12, 66, 76),
      words(88, 28, 24),
      words(88, 36, 52, true),
      words(88, 47, 18),
      words(88, 55, 58),
      words(88, 61, 50),
      button(88, 70),
    ),
    example: { slug: 'fern-teapot', heading: 'Worth a closer look' },
  },
  'featured-collection': {
    title: 'Featured collection',
    meaning: 'The title and description of one collection beside its first products.',
    placement: 'page',
    props: {
      collection: slug('The slug of the collection.', { required: true }),
      heading: line('The heading; else the title of the collection.'),
      limit: integer('How many products are shown.', { min: 1, max: 12, fallback: 3 }),
    },
    picture: drawing(
      words(12, 30, 36, true),
      words(12, 42, 32),
      words(12, 48, 28),
      button(12, 58),
      row(2, 50, (x) => photo(x + 46, 14, 42, 56) + words(x + 46, 75, 30) + words(x + 46, 82, 16)),
    ),
    example: { collection: 'tableware', heading: 'For the table', limit: 3 },
  },
  'collection-list': {
    title: 'Collection list',
    meaning: 'Collections as tiles, each with the image of its first product.',
    placement: 'page',
    props: {
      heading,
      collections: list(
        'The slugs of the collections, in order. Without them, all are shown.',
        12,
        slug('A slug.'),
      ),
    },
    picture: drawing(
      words(12, 12, 50, true),
      row(3, 47, (x) => photo(x, 26, 42, 46) + words(x, 77, 28, true)),
    ),
    example: { heading: 'Browse the shelves', collections: ['tableware', 'light'] },
  },
} as const satisfies Record<string, SectionType>

const TEXTS = {
  'rich-text': {
    title: 'Text',
    meaning: 'A text with headings, lists, links and emphasis.',
    placement: 'page',
    props: { heading, body: markdown('The text, in Markdown.', { required: true }) },
    picture: drawing(
      words(34, 16, 60, true),
      words(34, 32, 92),
      words(34, 39, 86),
      words(34, 46, 90),
      words(34, 60, 40, true),
      words(34, 72, 88),
      words(34, 79, 64),
    ),
    example: {
      heading: 'How we work',
      body: 'Everything is made **to order**, in [our workshop](/pages/about).',
    },
  },
  faq: {
    title: 'Questions and answers',
    meaning: 'Questions that open to show their answer.',
    placement: 'page',
    props: {
      heading,
      items: list(
        'The questions, in order.',
        60,
        object('A question with its answer.', {
          question: line('The question.', { required: true }),
          answer: markdown('The answer, in Markdown.', { required: true }),
        }),
        { required: true },
      ),
    },
    picture: drawing(
      words(12, 14, 62, true),
      rule(30),
      words(12, 37, 70),
      rule(47),
      words(12, 54, 84),
      words(12, 62, 120),
      rule(72),
      words(12, 79, 58),
    ),
    example: { items: [{ question: 'When do you ship?', answer: 'The next working day.' }] },
  },
  testimonials: {
    title: 'Testimonials',
    meaning: 'What customers say, side by side.',
    placement: 'page',
    props: {
      heading,
      items: list(
        'The quotes, in order.',
        24,
        object('A quote.', {
          quote: text('What was said.', { required: true }),
          author: line('Who said it.'),
        }),
        { required: true },
      ),
    },
    picture: drawing(
      words(12, 14, 44, true),
      row(3, 47, (x) => words(x, 36, 40) + words(x, 43, 36) + words(x, 50, 38) + words(x, 64, 20)),
    ),
    example: { items: [{ quote: 'The mug I reach for first.', author: 'Ines, Lisbon' }] },
  },
  contact: {
    title: 'Contact',
    meaning: 'How to reach the store.',
    placement: 'page',
    props: {
      heading,
      body: text('A few words.'),
      email: email('The address; else `brand.email`.'),
    },
    picture: drawing(words(46, 26, 68, true), words(40, 42, 80), words(52, 58, 56, true)),
    example: { heading: 'Write to us', email: 'hello@shop.example' },
  },
  newsletter: {
    title: 'Newsletter',
    meaning:
      'A field for an e-mail address, to ask for the newsletter. A link is mailed that confirms it.',
    placement: 'page',
    props: {
      heading: line('The heading of the section.', { required: true }),
      body: text('What a reader may expect.'),
      button: line('The text of the button.'),
      href: link('Leads to a page of your own instead of the field.'),
    },
    picture: drawing(band(26, 48), words(14, 38, 64, true), words(14, 52, 56), button(112, 45, 34)),
    example: { heading: 'Letters from the harbour', body: 'Once a month.', button: 'Sign up' },
  },
} as const satisfies Record<string, SectionType>

const PICTURES = {
  image: {
    title: 'Image',
    meaning: 'One wide image. It may be a link.',
    placement: 'page',
    props: {
      imageRef: asset('The image.', { required: true }),
      alt: line('What the image shows, for people who do not see it.'),
      href: link('Makes the image a link.'),
    },
    picture: drawing(photo(12, 14, 136, 72)),
    example: { imageRef: EXAMPLE_IMAGE, alt: 'Our workshop by the harbour' },
  },
  gallery: {
    title: 'Gallery',
    meaning: 'Several images side by side.',
    placement: 'page',
    props: {
      heading,
      images: list(
        'The images, in order.',
        60,
        object('An image.', {
          imageRef: asset('The image.', { required: true }),
          alt: line('What the image shows.'),
        }),
        { required: true },
      ),
    },
    picture: drawing(
      row(3, 47, (x) => photo(x, 14, 42, 34)),
      row(3, 47, (x) => photo(x, 54, 42, 34)),
    ),
    example: { images: [{ imageRef: EXAMPLE_IMAGE, alt: 'A mug' }] },
  },
  video: {
    title: 'Video',
    meaning:
      "A video of the store's own host, or of YouTube or Vimeo: nothing is loaded from there before a click. One elsewhere is a link.",
    placement: 'page',
    props: {
      url: link('The address of the video.', { required: true }),
      caption: line('Stands below the video.'),
      posterRef: asset('The image that is shown until the video plays.'),
    },
    picture: drawing(photo(12, 12, 136, 66), play(80, 45), words(12, 84, 60)),
    example: { url: 'https://vimeo.com/76979871', caption: 'How it is made' },
  },
  'image-with-text': {
    title: 'Image with text',
    meaning: 'An image beside a text, with a button.',
    placement: 'page',
    props: {
      imageRef: asset('The image.', { required: true }),
      imageAlt: line('What the image shows, for people who do not see it.'),
      heading,
      body: markdown('The text, in Markdown.'),
      cta,
      side: choice('Where the image stands on a wide screen.', ['left', 'right']),
    },
    picture: drawing(
      photo(12, 14, 66, 72),
      words(88, 30, 48, true),
      words(88, 43, 58),
      words(88, 49, 54),
      words(88, 55, 40),
      button(88, 66),
    ),
    example: {
      imageRef: EXAMPLE_IMAGE,
      imageAlt: 'A potter at the wheel',
      heading: 'Made by hand',
      body: 'Each mug is thrown by **Rita** in her studio.',
      side: 'right',
    },
  },
  'logo-list': {
    title: 'Logos',
    meaning: 'The logos of partners, seals or the press in a row.',
    placement: 'page',
    props: {
      heading,
      logos: list(
        'The logos, in order.',
        12,
        object('A logo.', {
          imageRef: asset('The image.', { required: true }),
          alt: line('Whose logo it is.', { required: true }),
          href: link('Makes the logo a link.'),
        }),
        { required: true },
      ),
    },
    picture: drawing(
      words(58, 24, 44, true),
      row(4, 36, (x) => photo(x + 2, 46, 26, 22)),
    ),
    example: { logos: [{ imageRef: EXAMPLE_IMAGE, alt: 'Craft Weekly' }] },
  },
  countdown: {
    title: 'Countdown',
    meaning:
      'The time that is left until a moment. Without a script it is the date; afterwards the section is not shown.',
    placement: 'page',
    props: {
      heading: line('What ends or begins.', { required: true }),
      until: time('The moment, with its offset from UTC.', { required: true }),
      body: text('A few words.'),
      cta,
    },
    picture: drawing(
      band(22, 56),
      words(14, 36, 56, true),
      words(14, 50, 44),
      row(4, 17, (x) => words(x + 70, 42, 12, true) + words(x + 71, 53, 9)),
    ),
    example: { heading: 'The winter sale ends', until: '2030-01-31T23:59:00+01:00' },
  },
  spacer: {
    title: 'Space',
    meaning: 'Empty space between two sections.',
    placement: 'page',
    props: { size: choice('How much of it.', ['medium', 'small', 'large']) },
    picture: drawing(words(12, 14, 60, true), rule(30), rule(70), words(12, 78, 60, true)),
    example: { size: 'small' },
  },
  footer: {
    title: 'Footer',
    meaning: 'Links and a text below every page. The last one counts.',
    placement: 'footer',
    props: {
      text: text('Small print.'),
      links: list(
        'Links, in order.',
        30,
        object('A link.', {
          label: line('Its text; else its address.', { required: true }),
          href: link('Where it leads.', { required: true }),
        }),
      ),
    },
    picture: drawing(
      band(58, 41),
      words(12, 66, 34, true),
      words(12, 78, 44),
      row(3, 26, (x) => words(x + 66, 68, 18)),
      words(12, 90, 90),
    ),
    example: {
      text: 'Made in Lisbon.',
      links: [{ label: 'Journal', href: 'https://journal.example' }],
    },
  },
} as const satisfies Record<string, SectionType>

export const SECTION_TYPES = { ...BANNERS, ...CATALOG, ...TEXTS, ...PICTURES }

export type SectionName = keyof typeof SECTION_TYPES
export type PropsOf<Name extends SectionName> = ValuesOf<(typeof SECTION_TYPES)[Name]['props']>

export const isSectionName = (type: string): type is SectionName =>
  Object.hasOwn(SECTION_TYPES, type)
