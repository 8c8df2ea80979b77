import type { Language } from './language.ts'

export const POLISH: Language = {
  code: 'pl',
  script: 'latin',
  isDeep: false,
  words: {
    TREAT: `leczy leczą leczyć wyleczy wyleczyć uleczy zwalcza zwalczają zwalczać zapobiega
      zapobiegają zapobiegać pokonuje niszczy`,
    EASE: `łagodzi łagodzą łagodzić zmniejsza uśmierza eliminuje usuwa redukuje koi`,
    REMEDY: 'leczenie leczenia leczeniu lek leku terapia kuracja lekarstwo profilaktyka',
    AGAINST: 'przeciw przeciwko',
    CONDITION: `raka rakowi nowotwór nowotworu nowotwory nowotworow* cukrzyc* depresj* bezsennoś*
      nadciśnieni* łuszczyc* alzheimer* parkinson* demencj* migren* astm* egzem* trądzik* zapaleni*
      artretyzm* reumatyzm* osteoporoz* gryp* otyłoś* impotencj* chorób choroba choroby chorobie
      chorobom chorobę cholesterol* miażdżyc* zawał* alergi*`,
    AILMENT: 'ból bólu bóle bólom bóli',
    LOWER: 'obniża obniżają obniżyć reguluje zmniejsza',
    LEVEL: 'ciśnienie ciśnienia cukru cukier cholesterol cholesterolu glukozy',
    FIT: 'do dla odpowiedni bezpieczny bezpieczne',
    HUMAN: 'ludzi ludzkiego człowieka',
    USE: 'spożycia użytku stosowania konsumpcji',
    TAKE: 'przyjmuj przyjmować bierz brać zażywać zażywaj połknij stosuj stosować',
    INJECT: 'wstrzyknij wstrzykiwać wstrzykuj wstrzyknąć iniekcja',
    SKIN: 'skórę brzuch',
    NUM: 'jedna jedną jeden dwie dwa trzy cztery pięć sześć',
    PIECE:
      'kapsułka kapsułkę kapsułki kapsułek tabletka tabletkę tabletki tabletek krople dawka dawkę',
    DAILY: 'dziennie codziennie tygodniowo',
    PER: 'na każdego w',
    DAY: 'dzień dnia tydzień noc',
    AGENCY: 'urpl',
    APPROVED: `zatwierdzony zatwierdzone zatwierdzona zatwierdziła zarejestrowany dopuszczony
      dopuszczone`,
    DOCTOR: 'lekarz lekarza lekarzy lekarze farmaceutów farmaceuci',
    RECOMMENDED: 'polecany polecane polecana polecają zalecany zalecane zalecają rekomendowany',
    LOSE: 'zrzuć zrzucić strać stracić utrata utratę',
    WEIGHT: 'wagi wagę kilogramy',
    SLIM: 'schudnij schudnąć odchudza odchudzanie odchudzający schudniesz',
    BURN: 'spala spalają spalać spalanie',
    FAT: 'tłuszcz tłuszczu',
    GROW: 'zwiększa zwiększają buduje budować przyrost',
    MUSCLE: 'mięśniową mięśniowej mięśnie mięśni',
    BOOST: 'zwiększa podnosi poprawia wzmacnia stymuluje przyspiesza',
    VITAL: 'libido testosteron testosteronu metabolizm odporność potencję erekcję popęd',
    YOUNG: 'przeciwstarzeniowy przeciwzmarszczkowy odmładza',
    LOST_WEIGHT: 'schudłam schudłem straciłam straciłem zrzuciłam zrzuciłem',
    KILOS: 'kilo kg kilogramów kilogramy',
    MY: 'mój moja moje',
    GONE: 'zniknął zniknęła zniknęły ustąpił ustąpiła minął minęła przeszła przeszedł',
  },
  grammar: {
    NOT: 'nie nigdy',
    NO: 'żaden żadnych żadnej żadna',
    LACKING: 'bez',
    TAKEN_BACK: 'tylko',
    CONTRAST: 'ale lecz jednak',
    AND: 'oraz lub',
    COPULA: 'jest są',
    FORBIDDEN: 'zabronione zakazane',
    PERMITTED: 'dozwolone',
  },
  phrases: {
    human_use: `
      INJECT ~4 pod ~1 skórę`,
    neutral: `
      utrata|utratę ~1 wagi|wagę ~2 opakowania|opakowanie|paczki|produktu|próbki
      gojenie ~1 ran ~2 myszy|szczurów
      TREAT ~1 rdzy|korozji|plątaniu`,
    notice: `
      !wyłącznie ~2 badań|badawczych|badawczego
      !tylko ~2 badań|badawczych`,
  },
}
