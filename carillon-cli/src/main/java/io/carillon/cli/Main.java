package io.carillon.cli;

import java.util.List;

/** The entry point of the {@code carillon} command. It knows no commands yet: it prints its usage and refuses the rest. */
public final class Main {

    private static final int USAGE_ERROR = 2;
    private static final String USAGE = "Usage: carillon [--help | --version]";

    private Main() {}

    public static void main(String[] args) {
        List<String> words = List.of(args);
        if (words.isEmpty() || words.equals(List.of("--help"))) {
            System.out.println(USAGE);
        } else if (words.equals(List.of("--version"))) {
            System.out.println("carillon " + Main.class.getPackage().getImplementationVersion());
        } else {
            System.err.println("carillon: unknown command: " + String.join(" ", words));
            System.err.println(USAGE);
            System.exit(USAGE_ERROR);
        }
    }
}
