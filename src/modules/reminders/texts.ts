/** The texts of a reminder, in the languages of the storefront. */
interface Texts {
  subject(store: string): string
  first: string
  second: string
  link: string
}

const TEXTS: Record<string, Texts> = {
  en: {
    subject: (store) => `You left something at ${store}`,
    first: 'You have not finished your order. This is still in your cart:',
    second: 'Your cart is still here. This is the last time that we remind you of it:',
    link: 'Back to the shop',
  },
  de: {
    subject: (store) => `Sie haben bei ${store} etwas liegen lassen`,
    first: 'Sie haben Ihre Bestellung nicht abgeschlossen. Das liegt noch im Warenkorb:',
    second: 'Ihr Warenkorb ist noch da. Wir erinnern Sie jetzt zum letzten Mal daran:',
    link: 'Zurück zum Shop',
  },
  es: {
    subject: (store) => `Ha dejado algo en ${store}`,
    first: 'No ha terminado su pedido. Esto sigue en su carrito:',
    second: 'Su carrito sigue aquí. Es la última vez que se lo recordamos:',
    link: 'Volver a la tienda',
  },
  fr: {
    subject: (store) => `Vous avez oublié quelque chose chez ${store}`,
    first: "Vous n'avez pas terminé votre commande. Voici ce qui reste dans votre panier :",
    second: "Votre panier est toujours là. C'est la dernière fois que nous vous le rappelons :",
    link: 'Retour à la boutique',
  },
}

/** Returns the texts of a language, or the English ones if it has none. */
export function textsIn(language: string): Texts {
  const texts = TEXTS[language.split('-')[0] ?? ''] ?? TEXTS.en
  if (texts === undefined) throw new Error('there are no English texts')
  return texts
}
