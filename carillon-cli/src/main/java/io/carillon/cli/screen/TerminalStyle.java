package io.carillon.cli.screen;

/** A text style. A style never carries meaning alone; the text always states it. */
public enum TerminalStyle {
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

    TerminalStyle(String code) {
        this.code = code;
    }

    String apply(String text) {
        return code.isEmpty() || text.isEmpty() ? text : ESCAPE + code + "m" + text + ESCAPE + "0m";
    }
}
