/** The site of the demo store: every common section, and nothing that needs a product yet. */
export const DEMO_MANIFEST = {
  store: { slug: 'demo' },
  brand: { name: 'Harbour Coffee', tagline: 'Roasted by the water' },
  theme: {
    color: { primary: '#0b5c6b', background: '#fffdf8', text: '#1d2a2e' },
    type: { heading: 'Georgia, serif', body: 'system-ui, sans-serif' },
    layout: { width: '72rem', radius: '0.5rem' },
  },
  template: {
    id: 'home',
    sections: [
      { type: 'announcement', props: { text: 'Free delivery over $40' } },
      {
        type: 'hero',
        props: {
          heading: 'Coffee, roasted by the water',
          subheading: 'Small batches, every Tuesday and Friday.',
          cta: { label: 'See the beans', href: '/collections/beans' },
        },
      },
      { type: 'product-grid', props: { heading: 'This week', limit: 8, columns: 4 } },
      { type: 'collection-list', props: { heading: 'Browse' } },
      {
        type: 'faq',
        props: {
          items: [
            { question: 'When do you ship?', answer: 'The day after roasting.' },
            { question: 'Do you grind?', answer: 'Yes; tell us how you brew.' },
          ],
        },
      },
      { type: 'newsletter', props: { heading: 'Hear of new beans first', button: 'Sign up' } },
      { type: 'footer', props: { text: 'Harbour Coffee, the demo store of Fairdock' } },
    ],
  },
  seo: { title: 'Harbour Coffee', description: 'Small batches, roasted by the water.' },
  behavior: {
    search: { enabled: true },
    storeCredit: { enabled: true },
    giftCards: { enabled: true },
  },
}
