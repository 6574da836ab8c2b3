//! The demo's words.

use crate::language::Language;

/// All that the demo says by itself; what calls are told comes from the services.
pub(super) struct Texts {
    pub(super) intro: &'static str,
    pub(super) ours: &'static str,
    pub(super) bare: &'static str,
    pub(super) steps: [StepText; 7],
    pub(super) preview: &'static str,
    pub(super) confirm: &'static str,
    pub(super) again: &'static str,
    pub(super) ask: &'static str,
    pub(super) five: &'static str,
    pub(super) pay: &'static str,
    pub(super) pay_again: &'static str,
    pub(super) no_answer: &'static str,
    pub(super) broken: &'static str,
    pub(super) as_above: &'static str,
    pub(super) ledgers: &'static str,
    pub(super) intent: &'static str,
    pub(super) total: &'static str,
    pub(super) right: &'static str,
    pub(super) wrong: &'static str,
}

/// One step.
pub(super) struct StepText {
    pub(super) title: &'static str,
    pub(super) tells: &'static str,
}

/// Which of the two services.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Ours,
    Bare,
}

impl Texts {
    pub(super) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        }
    }

    pub(super) const fn side(&self, side: Side) -> &'static str {
        match side {
            Side::Ours => self.ours,
            Side::Bare => self.bare,
        }
    }
}

static ENGLISH: Texts = Texts {
    intro: "One agent, three payments to make, and every mistake that agents make. It calls two services: one behind \
            Counterfoil, and a bare one that pays whoever calls. Below each call stands what the agent is told.",
    ours: "Counterfoil",
    bare: "bare",
    steps: [
        StepText {
            title: "A timeout, and a retry",
            tells: "120.50 EUR to payee-7. The money moves, but the answer takes longer than the agent waits. It calls \
                    again at once, and then asks when it was told to.",
        },
        StepText {
            title: "A result forgotten, and asked for again",
            tells: "The agent's context was compacted: it no longer knows that it paid, and confirms once more.",
        },
        StepText {
            title: "A reworded note",
            tells: "The same payment in other words: the note is new, the money isn't.",
        },
        StepText {
            title: "Five calls at once",
            tells: "40.00 EUR to payee-8. The agent's framework calls the tool five times in parallel.",
        },
        StepText {
            title: "A changed amount",
            tells: "The agent takes the fingerprint that was agreed for 120.50 and sends it with 1205.00.",
        },
        StepText {
            title: "Another principal's fingerprint",
            tells: "A second agent found the fingerprint in a shared log, and sends it under its own name.",
        },
        StepText {
            title: "A crash right after the effect",
            tells: "75.00 EUR to payee-9. The handler dies between the payment and the answer. Nobody can know whether \
                    it was done, and the agent tries again nevertheless.",
        },
    ],
    preview: "preview",
    confirm: "confirm",
    again: "confirm again",
    ask: "ask for status",
    five: "confirm, 5 at once",
    pay: "pay",
    pay_again: "pay again",
    no_answer: "no answer for",
    broken: "the connection broke",
    as_above: "(as above)",
    ledgers: "The two ledgers",
    intent: "payments asked for",
    total: "3 in all",
    right: "Behind Counterfoil every payment happened once, and every call was told what stands.",
    wrong: "Behind Counterfoil a payment did not happen exactly once. That is a fault of ours.",
};

static CHINESE: Texts = Texts {
    intro: "一个智能体要完成三笔付款，并会犯下智能体常犯的每一种错误。它调用两个服务：一个由 Counterfoil 保护，\
            另一个是裸接口，谁来调用就付款。每次调用下面是智能体得到的答复。",
    ours: "Counterfoil",
    bare: "裸接口",
    steps: [
        StepText {
            title: "超时，然后重试",
            tells: "向 payee-7 支付 120.50 EUR。钱已经转出，但答复来得比智能体愿意等的时间晚。它立即再次调用，然后按要求的时间查询。",
        },
        StepText {
            title: "忘记了结果，再次请求",
            tells: "智能体的上下文被压缩：它不再记得已经付过款，于是又确认了一次。",
        },
        StepText {
            title: "改写备注",
            tells: "同一笔付款，换了说法：备注是新的，钱还是那笔钱。",
        },
        StepText {
            title: "同时五次调用",
            tells: "向 payee-8 支付 40.00 EUR。智能体的框架并行调用了五次。",
        },
        StepText {
            title: "修改金额",
            tells: "智能体拿着为 120.50 签发的指纹，却以 1205.00 提交。",
        },
        StepText {
            title: "别人的指纹",
            tells: "另一个智能体在共享日志里找到了这个指纹，并以自己的名义提交。",
        },
        StepText {
            title: "生效之后立即崩溃",
            tells: "向 payee-9 支付 75.00 EUR。处理程序在付款之后、答复之前崩溃。没有人能知道是否完成，而智能体仍然再试一次。",
        },
    ],
    preview: "预览",
    confirm: "确认",
    again: "再次确认",
    ask: "查询状态",
    five: "同时确认五次",
    pay: "付款",
    pay_again: "再次付款",
    no_answer: "等待后没有答复：",
    broken: "连接中断",
    as_above: "（同上）",
    ledgers: "两本账",
    intent: "要求的付款",
    total: "共 3 笔",
    right: "在 Counterfoil 之后，每笔付款恰好发生一次，每次调用都得知了实际情况。",
    wrong: "在 Counterfoil 之后，有一笔付款没有恰好发生一次。这是我们的错误。",
};
