package io.carillon.cli.screen;

/** How a piece of text looks. Never the only carrier of a meaning: each also has a word. */
public enum Ink {
    PLAIN(""),
    BOLD("1"),
    DIM("2"),
    GREEN("32"),
    RED("31"),
    YELLOW("33"),
    CYAN("36"),
    ALARM("1;30;43");

    private static final String ESCAPE = "\u001b[";
    private final String code;

    Ink(String code) {
        this.code = code;
    }

    String paint(String text) {
        return code.isEmpty() || text.isEmpty() ? text : ESCAPE + code + "m" + text + ESCAPE + "0m";
    }
}
