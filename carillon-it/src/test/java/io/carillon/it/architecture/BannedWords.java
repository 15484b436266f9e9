package io.carillon.it.architecture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The words that code and documentation must not use, and the search for them. The list explains its format. */
record BannedWords(List<Entry> entries) {

    static final String LIST = "carillon-it/src/test/resources/banned-words.txt";

    /** The list itself and its exceptions. */
    private static final Set<String> NOT_SEARCHED =
            Set.of(LIST, "carillon-it/src/test/java/io/carillon/it/architecture/BannedWordsTest.java");

    private static final String GLOSSARY = "docs/GLOSSARY.md";
    private static final List<String> SUFFIXES =
            List.of(".java", ".sql", ".json", ".md", ".xml", ".yml", ".properties", ".txt");

    /** A word of prose or a part of an identifier: JettyServer, jetty_server and JETTY_SERVER have two words. */
    private static final Pattern WORD = Pattern.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+");

    /** The text between two words of a phrase, which may be a line break and the start of a comment line. */
    private static final Pattern SEPARATOR = Pattern.compile("[\\s*/#_'’-]*");

    private static final Pattern LINE_BREAK = Pattern.compile("\\s*\\n[\\s*/#-]*");
    private static final int MAX_SHOWN = 100;
    private static final Pattern LAST_CELL = Pattern.compile("(?m)(?<=\\|)[^|\\n]*\\|$");

    /** One line of the list; {@code type} says that it bans only the name of a Java type. */
    record Entry(String banned, boolean type, String instead) {

        static Entry parse(String line) {
            String[] parts = line.split("=", 2);
            if (parts.length != 2 || parts[0].isBlank() || parts[1].isBlank()) {
                throw new IllegalArgumentException("a line must be 'banned = use instead' (was '" + line + "')");
            }
            boolean type = parts[0].startsWith("type ");
            String banned = type ? parts[0].substring("type ".length()) : parts[0];
            return new Entry(banned.strip(), type, parts[1].strip());
        }

        /** Returns the positions of the words, or of the declarations of the type. */
        private List<Integer> find(String text, List<Word> words) {
            if (type) {
                return Pattern.compile("\\b(?:class|interface|record|enum) " + banned + "\\b")
                        .matcher(text)
                        .results()
                        .map(found -> found.start())
                        .toList();
            }
            List<Word> phrase = words(banned);
            List<Integer> found = new ArrayList<>();
            for (int i = 0; i + phrase.size() <= words.size(); i++) {
                if (matches(phrase, words.subList(i, i + phrase.size()), text)) {
                    found.add(words.get(i).start);
                }
            }
            return found;
        }

        private static boolean matches(List<Word> phrase, List<Word> words, String text) {
            for (int i = 0; i < phrase.size(); i++) {
                String expected = phrase.get(i).lower;
                String actual = words.get(i).lower;
                boolean last = i == phrase.size() - 1;
                if (!actual.equals(expected) && !(last && actual.equals(expected + "s"))) {
                    return false;
                }
                if (i > 0
                        && !SEPARATOR
                                .matcher(text.substring(words.get(i - 1).end, words.get(i).start))
                                .matches()) {
                    return false;
                }
            }
            return true;
        }
    }

    private record Word(String lower, int start, int end) {}

    /** One use of a banned word. {@code text} is the text from that word on, without line breaks. */
    record Finding(String file, int line, String banned, String instead, String text) {
        @Override
        public String toString() {
            return "%s:%d: '%s' is banned, use: %s".formatted(file, line, banned, instead);
        }
    }

    static BannedWords parse(String list) {
        return new BannedWords(list.lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(Entry::parse)
                .toList());
    }

    /** Returns the files to search: sources, resources, poms, documentation and the launcher. */
    static List<Path> files(SourceTree tree) {
        Stream<Path> folders = Stream.concat(
                Stream.of(tree.root().resolve("docs")), tree.modules().stream().map(module -> module.resolve("src")));
        Stream<Path> inFolders = folders.flatMap(
                folder -> SUFFIXES.stream().flatMap(suffix -> SourceTree.files(folder, suffix).stream()));
        Stream<Path> poms = tree.modules().stream().map(module -> module.resolve("pom.xml"));
        Stream<Path> inRoot = Stream.of(
                        "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "pom.xml", "carillon")
                .map(tree.root()::resolve)
                .filter(Files::exists);
        return Stream.of(inFolders, poms, inRoot)
                .flatMap(files -> files)
                .filter(file -> !NOT_SEARCHED.contains(tree.shown(file)))
                .toList();
    }

    List<Finding> search(SourceTree tree) {
        return files(tree).stream()
                .flatMap(file -> search(tree.shown(file), SourceTree.read(file)).stream())
                .toList();
    }

    private List<Finding> search(String file, String content) {
        // The last column of the glossary lists the words that Carillon does not use.
        String text = file.equals(GLOSSARY) ? LAST_CELL.matcher(content).replaceAll("|") : content;
        List<Word> words = words(text);
        List<Finding> findings = new ArrayList<>();
        for (Entry entry : entries) {
            for (int start : entry.find(text, words)) {
                int line = 1
                        + (int) text.chars().limit(start).filter(c -> c == '\n').count();
                String from = text.substring(start, Math.min(text.length(), start + MAX_SHOWN));
                String shown = LINE_BREAK.matcher(from).replaceAll(" ");
                findings.add(new Finding(file, line, entry.banned, entry.instead, shown));
            }
        }
        return findings;
    }

    private static List<Word> words(String text) {
        return WORD.matcher(text)
                .results()
                .map(word -> new Word(word.group().toLowerCase(Locale.ROOT), word.start(), word.end()))
                .toList();
    }
}
