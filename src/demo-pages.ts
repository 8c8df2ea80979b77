/** The content pages of the demo stores: the texts that a real store would need, as short as possible. */

interface DemoPage {
  slug: string
  title: string
  kind: 'about' | 'imprint' | 'terms' | 'privacy' | 'withdrawal' | 'shipping'
  description: string
  body_markdown: string
}

type Text = readonly [title: string, description: string, ...paragraphs: string[]]

const pages = (texts: Partial<Record<DemoPage['kind'], Text>>): DemoPage[] =>
  Object.entries(texts).map(([kind, [title, description, ...paragraphs]]) => ({
    slug: kind,
    title,
    kind: kind as DemoPage['kind'],
    description,
    body_markdown: paragraphs.join('\n\n'),
  }))

const DEMO = '*This is a demo store: nothing is charged, sent or promised.*'

export const HARBOUR_PAGES = pages({
  about: [
    'Our story',
    'A small shop by the water, and the people who make what it sells.',
    'Harbour & Hearth began with one shelf of mugs and a kettle that was always on. The shelf has grown; the rule has not. We sell what we use ourselves, from makers we can visit in a day.',
    '## How we choose',
    '- It does its work **every day**, and not only in a photograph.\n- It can be **mended**, refilled or passed on.\n- We can say **who made it** and what of.',
    'Write to us if something you bought does not keep that promise. We would rather mend than replace, and rather replace than argue.',
  ],
  shipping: [
    'Delivery and returns',
    'What delivery costs, how long it takes, and how to send something back.',
    '## Delivery',
    '| | Cost | Time |\n|---|---|---|\n| Standard | $5.90, free over $60 | 3 to 5 working days |\n| Express | $14.90 | the next working day |',
    'Everything is packed in paper and straw. If something arrives broken, send us a picture within a week and a new one is on its way.',
    '## Returns',
    'You have thirty days. Unused goods are refunded in full; food is excepted, for reasons that will be obvious.',
    DEMO,
  ],
  terms: [
    'Terms of sale',
    'The terms under which Harbour & Hearth sells.',
    '1. An order is accepted when we confirm it by mail.\n2. Prices are in US dollars; sales tax is added at the checkout.\n3. A coffee subscription renews every month, and ends when you say so.\n4. Gift cards do not expire, and are not paid out in cash.',
    DEMO,
  ],
  privacy: [
    'Privacy',
    'Which data we keep, for how long, and why.',
    'We keep what an order needs: your name, address and mail. We keep it as long as the tax office asks for it, share it with the carrier alone, and measure nothing while you look around. The only cookies are those of your cart and your orders.',
    DEMO,
  ],
  imprint: [
    'Imprint',
    'Who runs this shop.',
    'Harbour & Hearth  \n1 Quay Lane  \nPortsmouth, NH 03801  \nhello@harbour.example',
    DEMO,
  ],
})

export const OBJECTS_PAGES = pages({
  about: [
    'Studio',
    'Nine objects, one workshop, no seasons.',
    'We draw slowly. Each object has one designer, one workshop and one drawing on the wall that says what it must do. When it does that, we stop.',
    '## Mending',
    'Everything we sell can be taken apart. Send us the broken part and we send you a new one, for the price of the post.',
  ],
  shipping: [
    'Delivery',
    'What delivery costs in the United Kingdom.',
    'Royal Mail, **£4.50**, two to three days. By courier, **£9.50**, tomorrow. Returns within thirty days, in the box it came in.',
    DEMO,
  ],
  terms: [
    'Terms',
    'The terms under which Plain Objects sells.',
    'Prices are in pounds; VAT is added at the checkout. Each object carries a guarantee of ten years against everything but gravity.',
    DEMO,
  ],
  privacy: [
    'Privacy',
    'Which data we keep.',
    'We keep your address for as long as the guarantee lasts, and nothing else. No tracking. No newsletter you did not ask for.',
    DEMO,
  ],
  imprint: [
    'Company',
    'Who runs this shop.',
    'Plain Objects Studio  \n9 Arch Row, London E8  \nstudio@objects.example',
    DEMO,
  ],
})

const PROBE =
  '*Dies ist ein Laden zum Ausprobieren: Nichts wird berechnet, verschickt oder versprochen.*'

export const EMBER_PAGES = pages({
  about: [
    'Über uns',
    'Ein Mahlstein, ein kleiner Röster und zu viele Bücher.',
    'Glut & Roggen ist eine Werkstatt für den Abend. Wir mahlen Kakao auf Stein, rösten in Trommeln, die kaum größer sind als ein Kochtopf, und füllen ab, wenn die Straße still ist.',
    '## Was uns wichtig ist',
    '- **Wenig auf einmal.** Vierzig Tafeln sind ein Tag.\n- **Herkunft mit Namen.** Ein Tal, eine Imkerei, ein Feld.\n- **Papier statt Plastik**, gefaltet und nicht geklebt.',
  ],
  shipping: [
    'Versand',
    'Was der Versand kostet und wie lange er dauert.',
    '| | Kosten | Dauer |\n|---|---|---|\n| Standard | 6,50 €, ab 50 € frei | 2 bis 4 Werktage |\n| Express | 14,00 € | nächster Werktag |',
    'Im Hochsommer verschicken wir Schokolade nur montags und mit Kühlung, damit sie als Tafel ankommt.',
    PROBE,
  ],
  withdrawal: [
    'Widerrufsbelehrung',
    'Das Recht, einen Kauf zu widerrufen.',
    'Sie können den Vertrag **binnen vierzehn Tagen** ohne Angabe von Gründen widerrufen. Die Frist beginnt mit dem Tag, an dem Sie die Ware erhalten haben. Eine Nachricht an nacht@glut.example genügt.',
    'Wir erstatten alle Zahlungen einschließlich der Kosten der Standardlieferung, spätestens vierzehn Tage nach Eingang des Widerrufs. Die Rücksendung tragen Sie. Geöffnete Lebensmittel sind vom Widerruf ausgenommen.',
    PROBE,
  ],
  terms: [
    'AGB',
    'Die Bedingungen, zu denen Glut & Roggen verkauft.',
    '1. Der Vertrag kommt mit unserer Bestätigung per E-Mail zustande.\n2. Alle Preise sind Endpreise in Euro und enthalten die gesetzliche Mehrwertsteuer.\n3. Die Ware bleibt bis zur Zahlung unser Eigentum.\n4. Gutscheine gelten drei Jahre ab dem Ende des Jahres, in dem sie gekauft wurden.',
    PROBE,
  ],
  privacy: [
    'Datenschutz',
    'Welche Daten wir speichern, wie lange und wozu.',
    'Wir speichern, was eine Bestellung braucht: Name, Anschrift und E-Mail-Adresse, so lange, wie das Handelsrecht es verlangt. Wir messen nichts und geben nichts weiter, außer an den Paketdienst. Cookies gibt es nur für den Warenkorb und Ihre Bestellungen.',
    PROBE,
  ],
  imprint: [
    'Impressum',
    'Angaben zum Anbieter.',
    'Glut & Roggen  \nNachtgasse 7  \n28195 Bremen  \nnacht@glut.example',
    PROBE,
  ],
})
