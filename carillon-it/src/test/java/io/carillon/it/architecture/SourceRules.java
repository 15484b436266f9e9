package io.carillon.it.architecture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Rules for source files: the length of files and lines, the size of packages, and the documentation of packages. */
public record SourceRules(SourceTree tree) {

    static final int MAX_MAIN_LINES = 400;
    static final int MAX_TEST_LINES = 600;
    static final int MAX_FILES_IN_A_PACKAGE = 25;
    static final int MAX_COLUMNS = 120;

    private static final Pattern PUBLIC_TYPE = Pattern.compile("^public .*\\b(?:class|interface|record|enum)\\b");
    private static final Pattern ANNOTATION = Pattern.compile("^(?:@|\\)|    )");
    private static final Pattern COMMENT = Pattern.compile("(?m)^ *(?://.*|/\\*(?:.|\\R)*?\\*/ *)\\R");
    private static final String PACKAGE_INFO = "package-info.java";

    public List<String> longFiles() {
        return Stream.concat(longerThan(MAX_MAIN_LINES, tree.mainJava()), longerThan(MAX_TEST_LINES, tree.testJava()))
                .toList();
    }

    /** Returns the lines that are too long; the formatter leaves comments, SQL and messages as they are. */
    public List<String> longLines() {
        return Stream.of(tree.mainJava(), tree.testJava())
                .flatMap(List::stream)
                .flatMap(file -> {
                    List<String> lines = SourceTree.read(file).lines().toList();
                    return IntStream.range(0, lines.size())
                            .filter(line -> lines.get(line).length() > MAX_COLUMNS)
                            .mapToObj(line -> "%s:%d has more than %d columns: wrap the line"
                                    .formatted(tree.shown(file), line + 1, MAX_COLUMNS));
                })
                .toList();
    }

    /** Returns the packages with too many files, in main and test sources. */
    public List<String> fullPackages() {
        return Stream.of(tree.mainJava(), tree.testJava())
                .flatMap(files -> tree.byFolder(files).entrySet().stream())
                .filter(entry -> entry.getValue().size() > MAX_FILES_IN_A_PACKAGE)
                .map(entry -> "%s has %d files, more than %d: split the package by responsibility"
                        .formatted(tree.shown(entry.getKey()), entry.getValue().size(), MAX_FILES_IN_A_PACKAGE))
                .toList();
    }

    public List<String> packagesWithoutDocumentation() {
        return tree.byFolder(tree.mainJava()).keySet().stream()
                .filter(folder -> !isPackageInfo(folder.resolve(PACKAGE_INFO)))
                .map(folder -> tree.shown(folder) + " needs a " + PACKAGE_INFO
                        + " with a comment (contents, limits, where to start) and @NullMarked")
                .toList();
    }

    public List<String> packagesInTwoModules() {
        Map<Path, List<Path>> folders = tree.byFolder(tree.mainJava());
        return folders.keySet().stream()
                .filter(folder -> folders.keySet().stream()
                        .anyMatch(other ->
                                !other.equals(folder) && packageOf(other).equals(packageOf(folder))))
                .map(folder -> tree.shown(folder) + ": its package also exists in another module")
                .toList();
    }

    public List<String> typesWithoutJavadoc() {
        return tree.mainJava().stream()
                .filter(file -> !isDocumented(SourceTree.read(file).lines().toList()))
                .map(file -> tree.shown(file) + " needs Javadoc on its public type: what it is, what it guarantees")
                .toList();
    }

    /** Relies on the formatter: a top-level type starts in column 1, with its annotations below its Javadoc. */
    private static boolean isDocumented(List<String> lines) {
        for (int line = 0; line < lines.size(); line++) {
            if (PUBLIC_TYPE.matcher(lines.get(line)).find()) {
                int above = line - 1;
                while (above >= 0 && ANNOTATION.matcher(lines.get(above)).find()) {
                    above--;
                }
                return above >= 0 && lines.get(above).endsWith("*/");
            }
        }
        return true;
    }

    private Stream<String> longerThan(int limit, List<Path> files) {
        return files.stream()
                .filter(file -> codeLines(file) > limit)
                .map(file -> "%s has more than %d lines of code: split it by responsibility"
                        .formatted(tree.shown(file), limit));
    }

    /** Counts the lines without comments: an explanation must not force a split. */
    private static long codeLines(Path file) {
        return COMMENT.matcher(SourceTree.read(file)).replaceAll("").lines().count();
    }

    private static boolean isPackageInfo(Path file) {
        if (!Files.exists(file)) {
            return false;
        }
        String text = SourceTree.read(file);
        return text.startsWith("/**") && text.contains("@NullMarked\npackage ");
    }

    private static String packageOf(Path folder) {
        String path = folder.toString().replace('\\', '/');
        return path.substring(path.lastIndexOf("/src/main/java/"));
    }
}
