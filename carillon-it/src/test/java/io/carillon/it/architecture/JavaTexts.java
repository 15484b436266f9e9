package io.carillon.it.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the string literals and text blocks of Java sources, and removes the comments of the SQL in them. */
public final class JavaTexts {

    private static final Pattern SQL_COMMENT = Pattern.compile("--[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);

    /** Matches comments and character literals first, so that a quote inside them does not start a string. */
    private static final Pattern JAVA_TOKEN = Pattern.compile(
            "//[^\\n]*+|/\\*.*?\\*/|'(?:\\\\.|[^'\\\\])++'"
                    + "|\"\"\"(?<block>(?:[^\\\\\"]++|\\\\.|\"(?!\"\"))*+)\"\"\"|\"(?<text>(?:[^\"\\\\\\n]++|"
                    + "\\\\.)*+)\"",
            Pattern.DOTALL);

    private JavaTexts() {}

    public static List<String> of(String source) {
        List<String> texts = new ArrayList<>();
        Matcher token = JAVA_TOKEN.matcher(source);
        while (token.find()) {
            String text = token.group("block") != null ? token.group("block") : token.group("text");
            if (text != null) {
                texts.add(text);
            }
        }
        return texts;
    }

    public static String withoutSqlComments(String sql) {
        return SQL_COMMENT.matcher(sql).replaceAll(" ");
    }
}
