import { EMBER_PAGES, HARBOUR_PAGES, OBJECTS_PAGES } from './demo-pages.ts'

/** The manifests of the three demo stores. All are shown by the same storefront. */

/** The parts of a manifest that are created together with its store. Null where a part does not exist. */
export interface SiteParts {
  /** The image at the top of the home page. */
  hero: string | null
  /** The image beside the story on the home page. */
  story: string | null
  icon: string | null
  /** The logos of the home page, for a section that lists logos. */
  logos: readonly { imageRef: string; alt: string }[]
  /**
   * When a countdown ends. The countdown is not shown afterwards, so that an old demo store does not look out of
   * date.
   */
  until: string | null
}

/** Makes a manifest with these parts, as far as they exist. */
type Site = (parts: SiteParts) => Record<string, unknown>

export const NO_PARTS: SiteParts = { hero: null, story: null, icon: null, logos: [], until: null }

const brandImages = ({ hero, icon }: SiteParts) => ({
  ...(hero === null ? {} : { ogImageRef: hero }),
  ...(icon === null ? {} : { faviconRef: icon }),
})

const withImage = (imageRef: string | null, imageAlt: string) =>
  imageRef === null ? {} : { imageRef, imageAlt }

/** Makes a section with an image beside a text. It is left out until there is an image. */
const storySection = (imageRef: string | null, props: Record<string, unknown>) =>
  imageRef === null ? [] : [{ type: 'image-with-text', props: { imageRef, ...props } }]

const behavior = {
  search: { enabled: true },
  storeCredit: { enabled: true },
  giftCards: { enabled: true },
  subscriptions: { enabled: true },
}

interface Delivery {
  cents: number
  /** The fewest and the most working days that a delivery takes. */
  days: readonly [min: number, max: number]
}

const daysOf = ({ days: [min, max] }: Delivery) => ({ min, max })

const shipping = (standard: Delivery, expedited: Delivery, free: number | null) => ({
  mode: 'flat',
  flat_rate_cents: standard.cents,
  expedited_rate_cents: expedited.cents,
  max_cents: 5_000,
  free_shipping_threshold_cents: free,
  delivery_days: daysOf(standard),
  expedited_delivery_days: daysOf(expedited),
})

/** A warm and calm theme: paper, teal and a serif font. */
export const harbourSite: Site = (parts) => ({
  store: { slug: 'demo', language: 'en-US' },
  brand: {
    name: 'Harbour & Hearth',
    tagline: 'Good things for slow mornings',
    email: 'hello@harbour.example',
    ...brandImages(parts),
  },
  theme: {
    color: {
      primary: '#0b5c6b',
      background: '#fffdf8',
      surface: '#f4eee2',
      accent: '#0b5c6b',
      text: '#1d2a2e',
    },
    type: {
      heading: "'Iowan Old Style', Palatino, 'Book Antiqua', Georgia, 'DejaVu Serif', serif",
      body: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
      weight: 500,
    },
    layout: { width: '76rem', radius: '0.6rem', header: 'left', hero: 'split', card: 'soft' },
  },
  template: {
    id: 'home',
    sections: [
      {
        type: 'announcement',
        props: { text: 'Free delivery over $60 · WELCOME10 takes ten per cent off' },
      },
      {
        type: 'hero',
        props: {
          eyebrow: 'The winter table',
          heading: 'Made for slow mornings',
          subheading: 'Stoneware, wool and good coffee from people whose names we know.',
          cta: { label: 'Look around', href: '/products' },
          ...withImage(parts.hero, 'A teapot, a mug and a vase on a wooden table'),
        },
      },
      { type: 'product-grid', props: { heading: 'New this week', limit: 8, columns: 4 } },
      ...storySection(parts.story, {
        imageAlt: 'A clay bowl and a sea-green mug in the morning light',
        heading: 'Dipped once, fired twice',
        body: 'Our stoneware is thrown on a wheel, dipped by hand and fired overnight. The foot stays bare: **you can feel the clay**, and see where the glaze stopped.',
        cta: { label: 'Our story', href: '/pages/about' },
      }),
      { type: 'featured-product', props: { slug: 'fern-teapot', heading: 'Worth a closer look' } },
      {
        type: 'featured-collection',
        props: { collection: 'pantry', heading: 'For the shelf above the kettle', limit: 3 },
      },
      { type: 'collection-list', props: { heading: 'Browse the shelves' } },
      {
        type: 'faq',
        props: {
          heading: 'Good to know',
          items: [
            { question: 'When do you ship?', answer: 'The next working day, in paper and straw.' },
            { question: 'May I send it back?', answer: 'Within thirty days, if it is unused.' },
            { question: 'Is everything safe for the dishwasher?', answer: 'All stoneware is.' },
          ],
        },
      },
      {
        type: 'newsletter',
        props: {
          heading: 'Letters from the harbour',
          body: 'Once a month: what is new, and what is nearly gone.',
          button: 'Sign up',
        },
      },
      {
        type: 'footer',
        props: { text: 'Harbour & Hearth is a demo store. Nothing is charged or sent.' },
      },
    ],
  },
  pages: HARBOUR_PAGES,
  menus: {
    header: [
      { label: 'Tableware', collection: 'tableware' },
      { label: 'Living', collection: 'living' },
      { label: 'Pantry', collection: 'pantry' },
      { label: 'Gift cards', url: '/products/gift-card' },
      { label: 'Our story', page: 'about' },
    ],
  },
  seo: {
    title: 'Harbour & Hearth: good things for slow mornings',
    description: 'Stoneware, wool, light and coffee for the home, from people whose names we know.',
  },
  behavior: {
    ...behavior,
    shipping: shipping({ cents: 590, days: [3, 5] }, { cents: 1_490, days: [1, 1] }, 6_000),
    tax: { provider: 'flat_rate', rate_bps: 700 },
  },
})

/** A loud and plain theme: black on white, one red, everything on a grid. */
export const objectsSite: Site = (parts) => ({
  store: { slug: 'objects', language: 'en-GB' },
  brand: {
    name: 'Plain Objects',
    tagline: 'Nine things. Made well.',
    email: 'studio@objects.example',
    ...brandImages(parts),
  },
  theme: {
    color: {
      primary: '#0a0a0a',
      background: '#ffffff',
      surface: '#f0f0ee',
      accent: '#e5352b',
      text: '#0a0a0a',
    },
    type: {
      heading: "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif",
      body: "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif",
      weight: 800,
      case: 'upper',
      spacing: '-0.035em',
    },
    layout: {
      width: '90rem',
      radius: '0px',
      header: 'bar',
      hero: 'poster',
      card: 'framed',
      density: 'compact',
      button: 'block',
    },
  },
  template: {
    id: 'home',
    sections: [
      {
        type: 'hero',
        props: {
          heading: 'Nine things. Made well.',
          subheading: 'No seasons. No rush. The same nine objects, a little better every year.',
          cta: { label: 'All nine', href: '/products' },
          ...withImage(parts.hero, 'A red cup, a bowl and a lamp in a row'),
        },
      },
      { type: 'product-grid', props: { heading: '01–09', limit: 9, columns: 3 } },
      {
        type: 'rich-text',
        props: {
          heading: 'Why nine?',
          body: 'Because a tenth would have been worse than the ninth.\n\nEach is made in one workshop, by people who signed it underneath. If it breaks, we mend it.',
        },
      },
      ...storySection(parts.story, {
        imageAlt: 'A black teapot and a red cup in front of yellow paper',
        heading: 'Drawn to be mended',
        body: 'One screw, one joint, one colour. If a part breaks, you order the part.',
        cta: { label: 'The studio', href: '/pages/about' },
        side: 'right',
      }),
      ...(parts.logos.length === 0
        ? []
        : [{ type: 'logo-list', props: { heading: 'Signed underneath', logos: parts.logos } }]),
      { type: 'collection-list', props: { heading: 'Two shelves' } },
      { type: 'contact', props: { heading: 'Ask', email: 'studio@objects.example' } },
      {
        type: 'footer',
        props: {
          text: 'Plain Objects is a demo store. Nothing is charged or sent.',
        },
      },
    ],
  },
  pages: OBJECTS_PAGES,
  menus: {
    header: [
      { label: 'All nine', url: '/products' },
      { label: 'Table', collection: 'table' },
      { label: 'Room', collection: 'room' },
      { label: 'Studio', page: 'about' },
    ],
  },
  seo: {
    title: 'Plain Objects',
    description: 'Nine things for table and room. Made well, and mended.',
  },
  behavior: {
    ...behavior,
    shipping: shipping({ cents: 450, days: [2, 3] }, { cents: 950, days: [1, 1] }, null),
    tax: { provider: 'flat_rate', rate_bps: 2_000 },
  },
})

/**
 * A dark theme: orange on brown and an italic font. It is in German, since not every store is in
 * English.
 */
export const emberSite: Site = (parts) => ({
  store: { slug: 'ember', language: 'de-DE', timeZone: 'Europe/Berlin' },
  brand: {
    name: 'Glut & Roggen',
    tagline: 'Vorräte für den Abend',
    email: 'nacht@glut.example',
    ...brandImages(parts),
  },
  theme: {
    color: {
      primary: '#e0a458',
      background: '#17110e',
      surface: '#231a15',
      accent: '#3a2519',
      text: '#f3e9dc',
    },
    type: {
      heading:
        "'Cormorant Garamond', 'Hoefler Text', Garamond, Baskerville, 'Liberation Serif', serif",
      body: "Charter, 'Bitstream Charter', Georgia, 'Liberation Serif', serif",
      weight: 400,
      style: 'italic',
      spacing: '0em',
      scale: 1.12,
    },
    layout: {
      width: '70rem',
      radius: '2px',
      header: 'center',
      hero: 'cover',
      card: 'quiet',
      density: 'airy',
      button: 'outline',
      imageRatio: 0.8,
    },
  },
  template: {
    id: 'home',
    sections: [
      {
        type: 'hero',
        props: {
          eyebrow: 'Schokolade, Tee & Kerzenlicht',
          heading: 'Wenn der Tag von dir lässt',
          subheading: 'Dunkles, Süßes und das Licht, um es zu sehen.',
          cta: { label: 'Eintreten', href: '/products' },
          ...withImage(
            parts.hero,
            'Eine Kerze, ein Glas Honig und ein Beutel Kaffee auf einem dunklen Tisch',
          ),
        },
      },
      {
        type: 'rich-text',
        props: {
          body: 'Wir sind zu zweit, mit einem Mahlstein, einem kleinen Röster und zu vielen Büchern.\n\nWas hier steht, entsteht nachts, denn dann schmeckt es nach etwas.',
        },
      },
      {
        type: 'product-grid',
        props: { heading: 'Von der dunklen Seite der Speisekammer', limit: 6, columns: 3 },
      },
      ...storySection(parts.story, {
        imageAlt: 'Eine Tafel Schokolade neben einer brennenden Kerze',
        heading: 'Drei Tage auf dem Stein',
        body: 'So lange dauert es, bis der Kakao **nicht mehr nach Eile schmeckt**. Danach gießen wir, brechen eine Ecke ab und schweigen.',
        cta: { label: 'Wer wir sind', href: '/pages/about' },
        side: 'right',
      }),
      {
        type: 'featured-collection',
        props: { collection: 'evening', heading: 'Licht und Wärme', limit: 3 },
      },
      ...(parts.until === null
        ? []
        : [
            {
              type: 'countdown',
              props: {
                heading: 'Die nächste Röstung',
                until: parts.until,
                body: 'Vierzig Beutel, dann ist die Trommel wieder kalt.',
                cta: { label: 'Zur Roggenröstung', href: '/products/rye-roast' },
              },
            },
          ]),
      { type: 'collection-list', props: { heading: 'Drei Räume' } },
      { type: 'spacer', props: { size: 'small' } },
      {
        type: 'footer',
        props: {
          text: 'Glut & Roggen ist ein Laden zum Ausprobieren. Nichts wird berechnet oder verschickt.',
        },
      },
    ],
  },
  pages: EMBER_PAGES,
  menus: {
    header: [
      { label: 'Schokolade', collection: 'chocolate' },
      { label: 'Tasse & Glas', collection: 'cup-and-jar' },
      { label: 'Abend', collection: 'evening' },
      { label: 'Über uns', page: 'about' },
    ],
  },
  seo: {
    title: 'Glut & Roggen: Vorräte für den Abend',
    description:
      'Schokolade, Tee, Honig und Kerzenlicht, nachts gemacht, immer vierzig auf einmal.',
  },
  behavior: {
    ...behavior,
    shipping: shipping({ cents: 650, days: [2, 4] }, { cents: 1_400, days: [1, 1] }, 5_000),
    tax: { provider: 'flat_rate', rate_bps: 1_900 },
  },
  // In Germany shoppers see final prices.
  tax: { prices_include_tax: true },
})
