package io.carillon.it.walls;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Walls that only the sources can show: how long files are, how full packages, and whether each room has its sign. */
public record SourceWalls(SourceTree tree) {

    static final int MAIN_LINES = 400;
    static final int TEST_LINES = 600;
    /** Rooms are package-private inside: splitting one for its size alone would make its parts public. */
    static final int FILES_IN_A_PACKAGE = 40;

    private static final Pattern PUBLIC_TYPE = Pattern.compile("^public .*\\b(?:class|interface|record|enum)\\b");
    private static final Pattern ANNOTATION = Pattern.compile("^(?:@|\\)|    )");
    private static final String SIGN = "package-info.java";

    public List<String> longFiles() {
        return Stream.concat(longerThan(MAIN_LINES, tree.mainJava()), longerThan(TEST_LINES, tree.testJava()))
                .toList();
    }

    /** The room sign does not count. */
    public List<String> fullPackages() {
        // Of the product: tests lie in the room they test, and a contract has a file for each promise.
        return tree.byFolder(tree.mainJava()).entrySet().stream()
                .filter(entry -> withoutSign(entry.getValue()) > FILES_IN_A_PACKAGE)
                .map(entry -> "%s has %d files, more than %d: find the second room in it"
                        .formatted(tree.shown(entry.getKey()), withoutSign(entry.getValue()), FILES_IN_A_PACKAGE))
                .toList();
    }

    public List<String> packagesWithoutSign() {
        return tree.byFolder(tree.mainJava()).keySet().stream()
                .filter(folder -> !isSign(folder.resolve(SIGN)))
                .map(folder -> tree.shown(folder) + " needs a " + SIGN
                        + " with a comment (what lives here, what may not, where to start) and @NullMarked")
                .toList();
    }

    public List<String> packagesInTwoModules() {
        Map<Path, List<Path>> folders = tree.byFolder(tree.mainJava());
        return folders.keySet().stream()
                .filter(folder -> folders.keySet().stream()
                        .anyMatch(other ->
                                !other.equals(folder) && packageOf(other).equals(packageOf(folder))))
                .map(folder -> tree.shown(folder) + ": its package stands in another module too")
                .toList();
    }

    public List<String> typesWithoutJavadoc() {
        return tree.mainJava().stream()
                .filter(file -> !isDocumented(SourceTree.read(file).lines().toList()))
                .map(file -> tree.shown(file)
                        + " needs a sentence of Javadoc on its public type: what it is, what it guarantees")
                .toList();
    }

    /** The formatter puts a top-level type at the margin, and its annotations between it and its comment. */
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
                .filter(file -> SourceTree.read(file).lines().count() > limit)
                .map(file ->
                        "%s is longer than %d lines: split it by responsibility".formatted(tree.shown(file), limit));
    }

    private static boolean isSign(Path file) {
        if (!Files.exists(file)) {
            return false;
        }
        String text = SourceTree.read(file);
        return text.startsWith("/**") && text.contains("@NullMarked\npackage ");
    }

    private static long withoutSign(List<Path> files) {
        return files.stream().filter(file -> !file.endsWith(SIGN)).count();
    }

    private static String packageOf(Path folder) {
        String path = folder.toString().replace('\\', '/');
        return path.substring(path.lastIndexOf("/src/main/java/"));
    }
}
