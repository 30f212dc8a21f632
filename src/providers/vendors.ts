/** The vendors known by name, as rows. Their order is the order in which a model's name is matched. */

import type { Quirks } from "./wire-request.ts";

export interface Vendor {
  readonly name: string;
  readonly label: string;
  readonly baseUrl: string;
  /** The environment variable of the key; absent where no key is needed. */
  readonly keyVariable: string | undefined;
  /** How its keys begin, where nobody else's do. */
  readonly keyPrefix?: string;
  /** Parts of model names that mean this vendor. */
  readonly keywords: readonly string[];
  /** Taken when a key is there and no model is named. An alias that moves on by itself where there is one. */
  readonly defaultModel: string;
  /** Runs on the user's own machine: chosen only by name or when its address is configured. */
  readonly local?: boolean;
  /** Passes requests on to the vendor that the model's name begins with. */
  readonly gateway?: boolean;
  readonly quirks?: Partial<Quirks>;
}

export const vendors: readonly Vendor[] = [
  {
    name: "openrouter",
    label: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    keyPrefix: "sk-or-",
    keywords: ["openrouter"],
    defaultModel: "openrouter/auto",
    gateway: true,
  },
  {
    name: "anthropic",
    label: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    keyPrefix: "sk-ant-",
    keywords: ["anthropic", "claude"],
    defaultModel: "claude-sonnet-5-5",
  },
  {
    name: "openai",
    label: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    keywords: ["openai", "gpt"],
    defaultModel: "gpt-5.4-mini",
  },
  {
    name: "deepseek",
    label: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    keywords: ["deepseek"],
    defaultModel: "deepseek-flash",
  },
  {
    name: "gemini",
    label: "Google Gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    keywords: ["gemini", "gemma"],
    defaultModel: "gemini-flash-latest",
  },
  {
    name: "mistral",
    label: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    keywords: ["mistral", "magistral", "ministral", "codestral", "devstral"],
    defaultModel: "mistral-large-latest",
    quirks: { noStreamOptions: true },
  },
  {
    name: "ollama",
    label: "Ollama (on this machine)",
    baseUrl: "http://localhost:11434/v1",
    keyVariable: undefined,
    keywords: ["ollama", "nemotron"],
    defaultModel: "qwen3",
    local: true,
  },
  {
    name: "groq",
    label: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    keyPrefix: "gsk_",
    keywords: ["groq"],
    defaultModel: "openai/gpt-oss-120b",
  },
];
